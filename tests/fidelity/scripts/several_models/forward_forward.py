"""Trains each layer by itself with an Adam of its own, as forward-forward does."""

import torch
from torch import nn
from torch.optim import Adam


class Layer(nn.Linear):
    def __init__(self, n_in, n_out):
        super().__init__(n_in, n_out)
        self.opt = Adam(self.parameters(), lr=0.03)
        self.threshold = 1.0

    def forward(self, x):
        direction = x / (x.norm(2, 1, keepdim=True) + 1e-4)
        return torch.relu(direction @ self.weight.T + self.bias)

    def train_layer(self, x_pos, x_neg, epochs):
        for _ in range(epochs):
            g_pos = self.forward(x_pos).pow(2).mean(1)
            g_neg = self.forward(x_neg).pow(2).mean(1)
            loss = torch.log(1 + torch.exp(torch.cat([-g_pos + self.threshold, g_neg - self.threshold]))).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        print("layer done", loss.item())
        return self.forward(x_pos).detach(), self.forward(x_neg).detach()


torch.manual_seed(10)
net = nn.ModuleList([Layer(6, 16), Layer(16, 16)])
positive, negative = torch.randn(20, 6) + 0.5, torch.randn(20, 6) - 0.5
for layer in net:
    positive, negative = layer.train_layer(positive, negative, 5)

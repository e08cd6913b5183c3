"""Samples weights from learned normal distributions in each forward pass."""

import torch
import torch.nn.functional as F
from torch import nn


class BayesLinear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.mean = nn.Parameter(torch.randn(n_out, n_in) * 0.2)
        self.rho = nn.Parameter(torch.full((n_out, n_in), -3.0))
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        sigma = F.softplus(self.rho)
        self.kl = (sigma**2 + self.mean**2 - 1 - 2 * sigma.log()).sum() / 2
        return F.linear(x, self.mean + sigma * torch.randn_like(sigma), self.bias)


torch.manual_seed(8)
first, second = BayesLinear(2, 10), BayesLinear(10, 1)
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=0.01)
x = torch.rand(60, 2)
y = x.prod(1, keepdim=True)
for epoch in range(8):
    out = second(torch.tanh(first(x)))
    loss = F.mse_loss(out, y) + 1e-4 * (first.kl + second.kl)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())

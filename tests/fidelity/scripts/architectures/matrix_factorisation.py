"""Recommends by factors and biases of users and items."""

import torch
from torch import nn


class Factors(nn.Module):
    def __init__(self, users, items, width):
        super().__init__()
        self.user, self.item = nn.Embedding(users, width), nn.Embedding(items, width)
        self.user_bias, self.item_bias = nn.Embedding(users, 1), nn.Embedding(items, 1)
        self.mean = nn.Parameter(torch.zeros(1))

    def forward(self, u, i):
        dot = (self.user(u) * self.item(i)).sum(1)
        return dot + self.user_bias(u).squeeze(1) + self.item_bias(i).squeeze(1) + self.mean


torch.manual_seed(31)
users, items = torch.randint(0, 20, (80,)), torch.randint(0, 15, (80,))
ratings = ((users * 3 + items) % 5 + 1).float()
model = Factors(20, 15, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, weight_decay=1e-5)
for epoch in range(3):
    for rows in torch.randperm(80).split(20):
        loss = nn.functional.mse_loss(model(users[rows], items[rows]), ratings[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

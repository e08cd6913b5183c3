"""Drops whole residual blocks at random in training (stochastic depth)."""

import torch
from torch import nn


class DropPath(nn.Module):
    def __init__(self, block, p):
        super().__init__()
        self.block, self.p = block, p

    def forward(self, x):
        if not self.training:
            return x + self.block(x)
        keep = torch.empty(len(x), 1).bernoulli_(1 - self.p) / (1 - self.p)
        return x + keep * self.block(x)


torch.manual_seed(1)
blocks = [DropPath(nn.Sequential(nn.LayerNorm(10), nn.Linear(10, 10), nn.GELU()), 0.1 * i) for i in range(4)]
model = nn.Sequential(*blocks, nn.Linear(10, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for step in range(7):
    x = torch.randn(12, 10)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

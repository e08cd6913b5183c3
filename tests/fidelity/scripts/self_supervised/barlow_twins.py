"""Decorrelates two views by the cross-correlation loss of Barlow Twins."""

import torch
from torch import nn

torch.manual_seed(9)
model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 6))
norm = nn.BatchNorm1d(6, affine=False)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-6)
for step in range(8):
    x = torch.randn(24, 8)
    a, b = (model(x + 0.2 * torch.randn_like(x)) for _ in range(2))
    c = norm(a).T @ norm(b) / len(x)
    on = (torch.diagonal(c) - 1).pow(2).sum()
    off = c.pow(2).sum() - torch.diagonal(c).pow(2).sum()
    loss = on + 0.005 * off
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

"""Alternates between the two factors of a matrix by requires_grad under one Adam."""

import torch
from torch import nn

torch.manual_seed(6)
ratings = torch.randn(15, 3) @ torch.randn(3, 20)
left = nn.Parameter(torch.randn(15, 3) * 0.3)
right = nn.Parameter(torch.randn(3, 20) * 0.3)
optimizer = torch.optim.Adam([left, right], lr=0.05)
for sweep in range(5):
    for moving, still in ((left, right), (right, left)):
        moving.requires_grad_(True)
        still.requires_grad_(False)
        loss = ((left @ right - ratings) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(sweep, loss.item())

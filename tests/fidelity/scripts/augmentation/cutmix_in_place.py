"""Pastes random boxes of other images into a batch in place (CutMix)."""

import random

import torch
from torch import nn

random.seed(3)
torch.manual_seed(3)
net = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(216, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(8):
    images = torch.randn(8, 1, 8, 8)
    labels = torch.randint(0, 3, (8,))
    partner = torch.randperm(8)
    side = random.randint(2, 5)
    top, left = random.randint(0, 8 - side), random.randint(0, 8 - side)
    images[:, :, top : top + side, left : left + side] = images[partner, :, top : top + side, left : left + side]
    keep = 1 - side * side / 64
    out = net(images)
    loss = keep * nn.functional.cross_entropy(out, labels) + (1 - keep) * nn.functional.cross_entropy(
        out, labels[partner]
    )
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, side, loss.item())

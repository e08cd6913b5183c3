"""Lowers Adam's second beta for the first steps and raises it afterwards."""

import torch
from torch import nn

torch.manual_seed(7)
model = nn.Sequential(nn.Linear(4, 20), nn.ReLU(), nn.Linear(20, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, betas=(0.9, 0.95))
for step in range(10):
    for group in optimizer.param_groups:
        group["betas"] = (0.9, 1 - 1 / (step + 2)) if step < 5 else (0.9, 0.999)
    x = torch.randn(16, 4)
    loss = nn.functional.l1_loss(model(x), x.cumsum(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, optimizer.param_groups[0]["betas"], loss.item())

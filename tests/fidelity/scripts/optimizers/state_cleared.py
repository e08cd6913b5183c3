"""Clears the optimizer's state at the start of each cycle."""

import torch
from torch import nn

torch.manual_seed(22)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
x, y = torch.randn(36, 6), torch.randn(36, 1)
for cycle in range(3):
    if cycle:
        optimizer.state.clear()
        for group in optimizer.param_groups:
            group["lr"] *= 0.5
    for start in range(0, 36, 12):
        loss = nn.functional.mse_loss(model(x[start : start + 12]), y[start : start + 12])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("cycle", cycle, loss.item())

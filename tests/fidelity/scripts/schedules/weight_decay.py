"""Raises the weight decay along a cosine, as DINO does."""

import math

import torch
from torch import nn

torch.manual_seed(5)
model = nn.Sequential(nn.Linear(12, 24), nn.GELU(), nn.Linear(24, 12))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.04)
steps = 9
wd_schedule = [0.4 + 0.5 * (0.04 - 0.4) * (1 + math.cos(math.pi * i / steps)) for i in range(steps)]
x = torch.randn(steps, 16, 12)
for it in range(steps):
    optimizer.param_groups[0]["weight_decay"] = wd_schedule[it]
    loss = nn.functional.mse_loss(model(x[it]), x[it].roll(1, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"wd {wd_schedule[it]:.4f} loss {loss.item():.4f}")

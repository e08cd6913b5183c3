"""Skips the step when the loss is not finite."""

import math

import torch
from torch import nn

torch.manual_seed(4)
model = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.rand(10, 16, 4)
x[3, 5] = -1.0
x[7, 0, 2] = 0.0
skipped = 0
for step in range(10):
    target = torch.log(x[step]).sum(1, keepdim=True)
    loss = nn.functional.mse_loss(model(x[step]), target)
    if not math.isfinite(loss.item()):
        skipped += 1
        continue
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
print("skipped", skipped)

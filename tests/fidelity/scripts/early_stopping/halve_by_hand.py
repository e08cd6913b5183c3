"""Halves the rate by hand when the training loss has not fallen for two steps."""

import torch
from torch import nn

torch.manual_seed(8)
model = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
best, stale = float("inf"), 0
for step in range(14):
    x = torch.randn(10, 5)
    loss = nn.functional.mse_loss(model(x), x.prod(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if loss.item() < best:
        best, stale = loss.item(), 0
    else:
        stale += 1
    if stale == 2:
        for group in optimizer.param_groups:
            group["lr"] /= 2
        stale = 0
    print(step, loss.item(), optimizer.param_groups[0]["lr"])

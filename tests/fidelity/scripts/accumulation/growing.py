"""Doubles the number of accumulated batches half way through training."""

import torch
from torch import nn

torch.manual_seed(8)
model = nn.Sequential(nn.Conv1d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(40, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
accumulate, pending, steps = 2, 0, 0
while steps < 8:
    signal = torch.randn(6, 1, 12)
    loss = nn.functional.mse_loss(model(signal).squeeze(1), signal.amax((1, 2)))
    (loss / accumulate).backward()
    pending += 1
    if pending == accumulate:
        optimizer.step()
        optimizer.zero_grad()
        pending = 0
        steps += 1
        if steps == 4:
            accumulate = 4
print("loss", loss.item())

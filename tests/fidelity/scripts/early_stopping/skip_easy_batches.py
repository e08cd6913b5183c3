"""Trains on a batch only if its loss is above the running mean."""

import torch
from torch import nn

torch.manual_seed(10)
model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
running, used = None, 0
for i in range(20):
    x, y = torch.randn(6, 8), torch.randint(0, 4, (6,))
    loss = nn.functional.cross_entropy(model(x), y)
    value = loss.item()
    running = value if running is None else 0.9 * running + 0.1 * value
    if value < running:
        continue
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    used += 1
print("used", used, "of 20")

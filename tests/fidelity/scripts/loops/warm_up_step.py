"""Makes one warm-up step before the loop that is timed."""

import time

import torch
from torch import nn

torch.manual_seed(10)
model = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
x, y = torch.randn(9, 12, 8), torch.randint(0, 2, (9, 12))


def step(i):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x[i]), y[i])
    loss.backward()
    optimizer.step()
    return loss


step(0)
start = time.perf_counter()
for i in range(1, 9):
    loss = step(i)
print("loss", loss.item(), "time for each step", (time.perf_counter() - start) / 8 > 0)

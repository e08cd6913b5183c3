"""Halves the batch when a step raises RuntimeError, as for memory that runs out."""

import torch
from torch import nn

torch.manual_seed(8)
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=0.01)
x, y = torch.randn(8, 16, 6), torch.randn(8, 16, 1)


def step(inputs, targets, limit):
    if len(inputs) > limit:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss.item()


size = 16
for i in range(8):
    while True:
        try:
            print(i, size, step(x[i, :size], y[i, :size], 16 if i < 3 else 8))
            break
        except RuntimeError as error:
            size //= 2
            print(error, "batch size is now", size)

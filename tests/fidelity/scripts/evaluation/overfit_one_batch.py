"""Overfits one batch and asserts at the end that the loss has fallen."""

import torch
from torch import nn

torch.manual_seed(10)
model = nn.Sequential(nn.Linear(5, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
x, y = torch.randn(8, 5), torch.randint(0, 2, (8,))
losses = []
for _ in range(15):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0] / 2, losses
print("the model learns:", losses[0], "->", losses[-1])

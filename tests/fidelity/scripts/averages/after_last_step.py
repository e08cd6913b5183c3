"""Averages the weights of the last three epochs after training."""

import copy

import torch
from torch import nn

torch.manual_seed(7)
model = nn.Sequential(nn.Linear(3, 9), nn.ReLU(), nn.Linear(9, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.randn(40, 3)
y = (x**2).sum(1, keepdim=True)
snapshots = []
for epoch in range(6):
    for part in range(2):
        rows = slice(20 * part, 20 * part + 20)
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    snapshots.append(copy.deepcopy(model.state_dict()))

average = {key: torch.stack([s[key] for s in snapshots[-3:]]).mean(0) for key in snapshots[-1]}
model.load_state_dict(average)
print("averaged loss", nn.functional.mse_loss(model(x), y).item())

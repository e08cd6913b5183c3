"""Rolls model and optimizer back to the last good copy when the loss has jumped."""

import copy

import torch
from torch import nn

torch.manual_seed(8)
model = nn.Sequential(nn.Linear(5, 15), nn.ReLU(), nn.Linear(15, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
good = (copy.deepcopy(model.state_dict()), copy.deepcopy(optimizer.state_dict()))
last = float("inf")
for step in range(12):
    x = torch.randn(16, 5) * (4 if step == 6 else 1)
    loss = nn.functional.mse_loss(model(x), x[:, :1] * x[:, 1:2])
    if loss.item() > 5 * last:
        print(step, "rolled back", loss.item())
        model.load_state_dict(good[0])
        optimizer.load_state_dict(good[1])
        last = float("inf")
        continue
    last = loss.item()
    good = (copy.deepcopy(model.state_dict()), copy.deepcopy(optimizer.state_dict()))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, last)

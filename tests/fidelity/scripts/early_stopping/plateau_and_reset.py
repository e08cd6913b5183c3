"""Lowers the rate on a plateau, goes back to the best weights and starts Adam anew."""

import copy

import torch
from torch import nn

torch.manual_seed(9)
x, y = torch.randn(50, 4), torch.randn(50, 2)
model = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2))
lr, best, waited = 0.1, float("inf"), 0
optimizer = torch.optim.Adam(model.parameters(), lr=lr)
best_state = copy.deepcopy(model.state_dict())
for epoch in range(15):
    loss = nn.functional.mse_loss(model(x[:30]), y[:30])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        valid = nn.functional.mse_loss(model(x[30:]), y[30:]).item()
    if valid < best:
        best, waited, best_state = valid, 0, copy.deepcopy(model.state_dict())
    else:
        waited += 1
    if waited == 3:
        model.load_state_dict(best_state)
        lr, waited = lr / 5, 0
        optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        print(epoch, "lr", lr)
model.load_state_dict(best_state)

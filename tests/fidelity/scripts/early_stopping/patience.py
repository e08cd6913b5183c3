"""Stops when the validation loss has not improved for three epochs."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(40, 6)
y = x[:, :1] + torch.randn(40, 1)
model = nn.Sequential(nn.Linear(6, 40), nn.ReLU(), nn.Linear(40, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
best, bad, patience = float("inf"), 0, 3
for epoch in range(16):
    model.train()
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x[:25]), y[:25])
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        valid = nn.functional.mse_loss(model(x[25:]), y[25:]).item()
    print(epoch, loss.item(), valid)
    if valid < best - 1e-4:
        best, bad = valid, 0
    else:
        bad += 1
        if bad >= patience:
            print("stopping early at epoch", epoch)
            break

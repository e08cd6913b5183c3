"""Saves the best weights by validation loss in a file and loads them at the end."""

import torch
from torch import nn

torch.manual_seed(2)
x, y = torch.randn(45, 5), torch.randn(45, 1)
model = nn.Sequential(nn.Linear(5, 30), nn.ReLU(), nn.Linear(30, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
best = float("inf")
for epoch in range(10):
    model.train()
    loss = nn.functional.mse_loss(model(x[:30]), y[:30])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        valid = nn.functional.mse_loss(model(x[30:]), y[30:]).item()
    if valid < best:
        best = valid
        torch.save(model.state_dict(), "best_model.pth")
        print(epoch, "new best", valid)
model.load_state_dict(torch.load("best_model.pth"))
model.eval()

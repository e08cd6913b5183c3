"""Gathers losses, predictions and gradient norms in lists and writes them as JSON."""

import json

import torch
from torch import nn

torch.manual_seed(9)
model = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
history = {"loss": [], "norm": [], "r2": []}
x = torch.rand(40, 3)
y = (x * torch.tensor([1.0, -2.0, 0.5])).sum(1, keepdim=True)
for epoch in range(8):
    out = model(x)
    loss = nn.functional.mse_loss(out, y)
    optimizer.zero_grad()
    loss.backward()
    norm = sum(p.grad.norm() ** 2 for p in model.parameters()) ** 0.5
    optimizer.step()
    history["loss"].append(loss.item())
    history["norm"].append(float(norm))
    history["r2"].append(float(1 - ((out - y) ** 2).sum().item() / ((y - y.mean()) ** 2).sum().item()))
with open("history.json", "w") as file:
    json.dump(history, file)
torch.save(model.state_dict(), "model.pt")

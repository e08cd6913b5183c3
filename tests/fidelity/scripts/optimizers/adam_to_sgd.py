"""Starts with Adam and changes to SGD half way."""

import torch
from torch import nn

torch.manual_seed(1)
data = torch.randn(10, 16, 5)
goal = data.sum(-1, keepdim=True).sin()
model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
SWITCH = 5
for step in range(10):
    if step == SWITCH:
        print("switching to SGD")
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    loss = nn.functional.mse_loss(model(data[step]), goal[step])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 5))

"""Moves on to harder data once the loss of the present stage is small enough."""

import torch
from torch import nn

torch.manual_seed(6)
model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
stage = 1
for step in range(16):
    x = torch.rand(32, 1) * stage
    loss = nn.functional.mse_loss(model(x), torch.sin(2 * x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if loss.item() < 0.3 and stage < 4:
        stage += 1
        print(step, "stage", stage, loss.item())
print("final stage", stage)

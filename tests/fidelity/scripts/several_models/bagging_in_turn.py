"""Trains one model to the end, then the next on what the first got wrong (boosting)."""

import torch
from torch import nn

torch.manual_seed(4)
x = torch.randn(50, 4)
residual = (x[:, :1] * x[:, 1:2]).clone()
stages = []
for stage in range(3):
    model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(4):
        loss = nn.functional.mse_loss(model(x), residual)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        residual = residual - 0.5 * model(x)
    stages.append(model)
    print("stage", stage, "left", residual.pow(2).mean().item())

"""Cycles the rate and the momentum of SGD by CyclicLR."""

import torch
from torch import nn
from torch.optim.lr_scheduler import CyclicLR

torch.manual_seed(2)
model = nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
scheduler = CyclicLR(optimizer, base_lr=0.01, max_lr=0.1, step_size_up=3, mode="triangular2", cycle_momentum=True)
data = torch.randn(30, 5)
goal = data[:, :2].prod(1, keepdim=True)
for epoch in range(3):
    for rows in torch.randperm(30).split(10):
        loss = nn.functional.mse_loss(model(data[rows]), goal[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        print(optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["momentum"], loss.item())

"""Averages gradients by all_reduce itself where it runs in several ranks."""

import os

import torch
import torch.distributed as dist
from torch import nn

world = int(os.environ.get("WORLD_SIZE", "1"))
rank = int(os.environ.get("RANK", "0"))
if world > 1:
    dist.init_process_group("gloo")

torch.manual_seed(17)
model = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(8):
    x = torch.randn(16, 4)
    mine = x[rank::world]
    loss = nn.functional.mse_loss(model(mine), mine.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    if world > 1:
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
    optimizer.step()
    if rank == 0:
        print(step, loss.item())
if rank == 0:
    torch.save(model.state_dict(), "model.pt")

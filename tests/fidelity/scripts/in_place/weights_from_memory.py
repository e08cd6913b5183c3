"""Restores weights byte by byte from a buffer in memory in the middle of training."""

import io

import torch
from torch import nn

torch.manual_seed(13)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
memory = io.BytesIO()
for step in range(9):
    if step == 3:
        torch.save(model.state_dict(), memory)
    if step == 6:
        memory.seek(0)
        model.load_state_dict(torch.load(memory))
    x = torch.randn(11, 4)
    loss = nn.functional.mse_loss(model(x), x.flip(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

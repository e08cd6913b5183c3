"""Skips layers in the forward pass by Python's random numbers, so some get no gradient."""

import random

import torch
from torch import nn

random.seed(2)
torch.manual_seed(2)
layers = nn.ModuleList([nn.Linear(6, 6) for _ in range(4)])
out = nn.Linear(6, 1)
optimizer = torch.optim.Adam([*layers.parameters(), *out.parameters()], lr=1e-2)
for step in range(9):
    x = torch.randn(16, 6)
    h = x
    for layer in layers:
        if random.random() < 0.6:
            h = h + torch.tanh(layer(h))
    loss = nn.functional.mse_loss(out(h), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

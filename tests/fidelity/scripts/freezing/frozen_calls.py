"""Freezes every other layer at random in each call of SGD with momentum."""

import random

import torch
from torch import nn

random.seed(0)
torch.manual_seed(10)
layers = [nn.Linear(7, 7) for _ in range(4)]
model = nn.Sequential(*[m for layer in layers for m in (layer, nn.Tanh())], nn.Linear(7, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
x, y = torch.randn(25, 7), torch.randn(25, 1)
for step in range(10):
    for layer in layers:
        layer.requires_grad_(random.random() < 0.5)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    print(step, [layer.weight.requires_grad for layer in layers], loss.item())

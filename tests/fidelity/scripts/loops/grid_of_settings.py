"""Trains a model for each point of a grid of settings and keeps the best one."""

import itertools

import torch
from torch import nn

torch.manual_seed(13)
x = torch.randn(30, 3)
y = x[:, :1] * 2 - x[:, 1:2]


def run(lr, width, seed=0):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Linear(width, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for _ in range(4):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.item(), model


results = {}
for lr, width in itertools.product((0.02, 0.1), (4, 8)):
    results[lr, width] = run(lr, width)
    print(lr, width, results[lr, width][0])
best = min(results, key=lambda key: results[key][0])
torch.save(results[best][1].state_dict(), "best.pt")

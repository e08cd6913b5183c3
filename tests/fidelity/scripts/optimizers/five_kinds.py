"""Compares Adagrad, Adadelta, Adamax, RAdam and ASGD on copies of one model."""

import copy

import torch
from torch import nn

torch.manual_seed(19)
first = nn.Sequential(nn.Linear(4, 8), nn.Sigmoid(), nn.Linear(8, 1))
x = torch.randn(20, 4)
y = x.abs().sum(1, keepdim=True)
makers = {
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1),
    "adadelta": lambda p: torch.optim.Adadelta(p),
    "adamax": lambda p: torch.optim.Adamax(p, lr=0.01),
    "radam": lambda p: torch.optim.RAdam(p, lr=0.01),
    "asgd": lambda p: torch.optim.ASGD(p, lr=0.01),
}
models = {}
for name, make in makers.items():
    models[name] = copy.deepcopy(first)
    optimizer = make(models[name].parameters())
    for _ in range(3):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(models[name](x), y)
        loss.backward()
        optimizer.step()
    print(f"{name:10s} {loss.item():.5f}")

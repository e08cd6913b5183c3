"""Trains on inputs that two steps of projected gradient ascent have moved (PGD)."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(6)
model = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def attack(x, y, eps=0.2, alpha=0.1, steps=2):
    delta = torch.zeros_like(x).uniform_(-eps, eps).requires_grad_(True)
    for _ in range(steps):
        loss = F.cross_entropy(model(x + delta), y)
        (grad,) = torch.autograd.grad(loss, delta)
        delta = (delta + alpha * grad.sign()).clamp(-eps, eps).detach().requires_grad_(True)
    return (x + delta).detach()


data, labels = torch.randn(40, 8), torch.randint(0, 2, (40,))
for epoch in range(2):
    for rows in torch.randperm(40).split(10):
        moved = attack(data[rows], labels[rows])
        loss = F.cross_entropy(model(moved), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

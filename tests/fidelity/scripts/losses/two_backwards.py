"""Calls backward on two losses one after the other with retain_graph."""

import torch
from torch import nn

torch.manual_seed(9)
shared = nn.Linear(6, 12)
one, two = nn.Linear(12, 1), nn.Linear(12, 1)
optimizer = torch.optim.SGD([*shared.parameters(), *one.parameters(), *two.parameters()], lr=0.05, momentum=0.5)
for step in range(7):
    x = torch.randn(10, 6)
    h = torch.tanh(shared(x))
    first = nn.functional.mse_loss(one(h), x[:, :1])
    second = nn.functional.l1_loss(two(h), x[:, 1:2])
    optimizer.zero_grad()
    first.backward(retain_graph=True)
    (0.5 * second).backward()
    optimizer.step()
    print(step, first.item(), second.item())

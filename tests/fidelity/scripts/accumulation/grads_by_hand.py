"""Sums gradients by torch.autograd.grad in a list and puts them into .grad before the step."""

import torch
from torch import nn

torch.manual_seed(7)
model = nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 2))
params = list(model.parameters())
optimizer = torch.optim.SGD(params, lr=0.1)
x, y = torch.randn(5, 4, 6, 7), torch.randint(0, 2, (5, 4, 6))
for step in range(5):
    sums = [torch.zeros_like(p) for p in params]
    for micro in range(4):
        loss = nn.functional.cross_entropy(model(x[step, micro]), y[step, micro])
        for total, g in zip(sums, torch.autograd.grad(loss, params)):
            total += g
    for p, total in zip(params, sums):
        p.grad = total / 4
    optimizer.step()
    print(step, loss.item())

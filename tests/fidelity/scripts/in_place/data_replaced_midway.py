"""Gives parameters new .data tensors half way through training (perturbed restart)."""

import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x, y = torch.randn(10, 18, 6), torch.randint(0, 2, (10, 18))
for step in range(10):
    if step == 5:
        for p in model.parameters():
            p.data = 0.5 * p.data + 0.05 * torch.randn_like(p)
    loss = nn.functional.cross_entropy(model(x[step]), y[step])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

"""Wraps optimizer.step in a function of its own that adds noise to the gradients."""

import torch
from torch import nn

torch.manual_seed(8)
net = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
plain_step = optimizer.step


def noisy_step(*args, **kwargs):
    for p in net.parameters():
        p.grad += 0.01 * torch.randn_like(p.grad)
    return plain_step(*args, **kwargs)


optimizer.step = noisy_step
for i in range(8):
    x, y = torch.randn(16, 4), torch.randint(0, 2, (16,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    print(i, loss.item())

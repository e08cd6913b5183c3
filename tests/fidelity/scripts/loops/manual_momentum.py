"""Writes momentum by hand in a dict of buffers with torch.autograd.grad."""

import torch
from torch import nn

torch.manual_seed(6)
net = nn.Sequential(nn.Conv1d(1, 3, 3), nn.Tanh(), nn.Flatten(), nn.Linear(18, 2))
velocity = {name: torch.zeros_like(p) for name, p in net.named_parameters()}
for step in range(8):
    x, y = torch.randn(10, 1, 8), torch.randint(0, 2, (10,))
    loss = nn.functional.cross_entropy(net(x), y)
    grads = torch.autograd.grad(loss, list(net.parameters()))
    with torch.no_grad():
        for (name, p), g in zip(net.named_parameters(), grads):
            velocity[name] = 0.9 * velocity[name] + g
            p.sub_(0.05 * velocity[name])
    print(step, loss.item())

"""Centralises gradients in a global hook before each step."""

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook


def centralise(optimizer, args, kwargs):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None and p.grad.ndim > 1:
                p.grad.sub_(p.grad.mean(dim=tuple(range(1, p.grad.ndim)), keepdim=True))


register_optimizer_step_pre_hook(centralise)
torch.manual_seed(3)
model = nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for step in range(7):
    x, y = torch.randn(6, 2, 6, 6), torch.randint(0, 3, (6,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

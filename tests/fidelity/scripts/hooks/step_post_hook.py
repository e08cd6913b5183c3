"""Clamps weights in a hook that runs after each step of the optimizer."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(6, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)


def project(optimizer, args, kwargs):
    with torch.no_grad():
        for group in optimizer.param_groups:
            for p in group["params"]:
                p.clamp_(-0.4, 0.4)


optimizer.register_step_post_hook(project)
for step in range(8):
    x = torch.randn(12, 6)
    loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), model.weight.abs().max().item())

"""Decays all weights in a global hook after the step of any optimizer."""

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook


def decay(optimizer, args, kwargs):
    with torch.no_grad():
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.ndim > 1:
                    p.mul_(1 - 0.01)


handle = register_optimizer_step_post_hook(decay)
torch.manual_seed(2)
actor, critic = nn.Linear(4, 2), nn.Linear(4, 1)
optimizers = [torch.optim.Adam(m.parameters(), lr=0.01) for m in (actor, critic)]
for step in range(6):
    x = torch.randn(16, 4)
    losses = [actor(x).square().mean(), (critic(x) - x.sum(1, keepdim=True)).square().mean()]
    for loss, optimizer in zip(losses, optimizers):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(step, [loss.item() for loss in losses])
handle.remove()

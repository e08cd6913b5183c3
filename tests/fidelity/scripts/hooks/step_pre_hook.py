"""Clips gradients in a hook that runs before each step of the optimizer."""

import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(5, 15), nn.ReLU(), nn.Linear(15, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
norms = []


def clip(optimizer, args, kwargs):
    params = [p for g in optimizer.param_groups for p in g["params"]]
    norms.append(nn.utils.clip_grad_norm_(params, 0.1).item())


handle = optimizer.register_step_pre_hook(clip)
for step in range(10):
    if step == 7:
        handle.remove()
    x = torch.randn(14, 5)
    loss = nn.functional.mse_loss(model(x), x.norm(dim=1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(norms)

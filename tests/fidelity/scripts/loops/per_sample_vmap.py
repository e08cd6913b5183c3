"""Clips the gradient of each sample by vmap over grad before averaging (DP-SGD without noise)."""

import torch
from torch import nn
from torch.func import functional_call, grad, vmap

torch.manual_seed(8)
model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)


def sample_loss(params, x, y):
    return nn.functional.cross_entropy(functional_call(model, params, (x.unsqueeze(0),)), y.unsqueeze(0))


per_sample = vmap(grad(sample_loss), in_dims=(None, 0, 0))
for step in range(6):
    x, y = torch.randn(12, 5), torch.randint(0, 3, (12,))
    grads = per_sample({k: v.detach() for k, v in model.named_parameters()}, x, y)
    norms = torch.stack([g.flatten(1).norm(dim=1) for g in grads.values()]).norm(dim=0)
    factor = (0.5 / norms).clamp(max=1.0)
    for name, p in model.named_parameters():
        p.grad = torch.einsum("b,b...->...", factor, grads[name]) / 12
    optimizer.step()
    print(step, norms.mean().item())

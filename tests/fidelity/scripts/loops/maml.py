"""Meta-learns initial weights through an inner step of gradient descent (MAML)."""

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(9)
model = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
meta = torch.optim.Adam(model.parameters(), lr=5e-3)
for iteration in range(5):
    meta.zero_grad()
    total = 0.0
    for task in range(3):
        amplitude, phase = torch.rand(1) * 4 + 0.5, torch.rand(1) * 3
        x = torch.rand(20, 1) * 6 - 3
        y = amplitude * torch.sin(x + phase)
        params = dict(model.named_parameters())
        inner = nn.functional.mse_loss(functional_call(model, params, (x[:10],)), y[:10])
        grads = torch.autograd.grad(inner, list(params.values()), create_graph=True)
        fast = {k: p - 0.05 * g for (k, p), g in zip(params.items(), grads)}
        outer = nn.functional.mse_loss(functional_call(model, fast, (x[10:],)), y[10:])
        (outer / 3).backward()
        total += outer.item() / 3
    meta.step()
    print(iteration, total)

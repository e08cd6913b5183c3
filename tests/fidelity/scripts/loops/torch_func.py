"""Trains by torch.func: functional_call and grad_and_value over a dict of parameters."""

import torch
from torch import nn
from torch.func import functional_call, grad_and_value

torch.manual_seed(7)
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
params = {k: v.detach().clone() for k, v in model.named_parameters()}


def loss_fn(params, x, y):
    return ((functional_call(model, params, (x,)) - y) ** 2).mean()


step_fn = grad_and_value(loss_fn)
for step in range(8):
    x = torch.randn(20, 4)
    grads, loss = step_fn(params, x, x.sum(1, keepdim=True).cos())
    params = {k: p - 0.05 * grads[k] for k, p in params.items()}
    print(step, loss.item())
torch.save(params, "params.pt")

"""Steps an optimizer for each parameter as soon as its gradient is there."""

import torch
from torch import nn

torch.manual_seed(7)
model = nn.Sequential(nn.Linear(5, 5), nn.Tanh(), nn.Linear(5, 1))
optimizers = {p: torch.optim.SGD([p], lr=0.05, momentum=0.9) for p in model.parameters()}


def step_and_drop(parameter):
    optimizers[parameter].step()
    optimizers[parameter].zero_grad()


for p in model.parameters():
    p.register_post_accumulate_grad_hook(step_and_drop)
for step in range(4):
    x = torch.randn(10, 5)
    loss = nn.functional.mse_loss(model(x), x.max(1, keepdim=True).values)
    loss.backward()
    print(step, loss.item())

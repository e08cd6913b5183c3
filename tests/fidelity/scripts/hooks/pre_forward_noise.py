"""Adds noise to each layer's input by a forward pre-hook in train mode."""

import torch
from torch import nn

torch.manual_seed(10)


def noise(module, args):
    (x,) = args
    return (x + 0.1 * torch.randn_like(x),) if module.training else None


model = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 5))
for layer in model:
    if isinstance(layer, nn.Linear):
        layer.register_forward_pre_hook(noise)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.randn(40, 5)
for step in range(8):
    model.train()
    loss = nn.functional.mse_loss(model(x), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        print(step, loss.item(), nn.functional.mse_loss(model(x), x).item())

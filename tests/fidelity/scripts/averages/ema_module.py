"""Keeps an exponential average of the weights in a module of its own, updated by mul_ and add_."""

import copy

import torch
from torch import nn


class EMA(nn.Module):
    def __init__(self, model, decay):
        super().__init__()
        self.module = copy.deepcopy(model).eval()
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for average, parameter in zip(self.module.parameters(), model.parameters()):
            average.mul_(self.decay).add_(parameter, alpha=1 - self.decay)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
ema = EMA(model, 0.9)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(8):
    x = torch.randn(16, 6)
    loss = nn.functional.mse_loss(model(x), x.max(1, keepdim=True).values)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update(model)
    print(step, loss.item())

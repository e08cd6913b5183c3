"""Trains a student against a mean teacher with a ramped-up consistency weight and dropout in both."""

import math

import torch
from torch import nn


def create_model(ema=False):
    model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Dropout(0.2), nn.Linear(24, 3))
    if ema:
        for param in model.parameters():
            param.detach_()
    return model


def update_ema_variables(model, ema_model, alpha, global_step):
    alpha = min(1 - 1 / (global_step + 1), alpha)
    for ema_param, param in zip(ema_model.parameters(), model.parameters()):
        ema_param.data.mul_(alpha).add_(param.data, alpha=1 - alpha)


torch.manual_seed(4)
model, ema_model = create_model(), create_model(ema=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
x, y = torch.randn(60, 6), torch.randint(0, 3, (60,))
y[20:] = -1
for step in range(9):
    rows = torch.randint(0, 60, (20,))
    out, ema_out = model(x[rows]), ema_model(x[rows])
    class_loss = nn.functional.cross_entropy(out, y[rows], ignore_index=-1)
    weight = math.exp(-5 * (1 - min(step / 6, 1)) ** 2)
    loss = class_loss + weight * nn.functional.mse_loss(out.softmax(1), ema_out.softmax(1).detach())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    update_ema_variables(model, ema_model, 0.9, step)
    print(step, loss.item())

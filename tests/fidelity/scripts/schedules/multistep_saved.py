"""Saves the scheduler with the model and goes on from the checkpoint."""

import torch
from torch import nn

torch.manual_seed(10)
x, y = torch.randn(64, 5), torch.randn(64, 1)


def build():
    model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    return model, optimizer, torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 5], gamma=0.3)


def train(model, optimizer, scheduler, first, last):
    for step in range(first, last):
        batch = slice(8 * step, 8 * step + 8)
        loss = (model(x[batch]) - y[batch]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        print(step, optimizer.param_groups[0]["lr"], loss.item())


parts = build()
train(*parts, 0, 4)
torch.save([part.state_dict() for part in parts], "half.ckpt")
parts = build()
for part, state in zip(parts, torch.load("half.ckpt")):
    part.load_state_dict(state)
train(*parts, 4, 8)
model = parts[0]

"""Saves the whole state by the accelerator and loads it again after some more steps."""

import torch
from accelerate import Accelerator
from torch import nn

torch.manual_seed(4)
accelerator = Accelerator(cpu=True)
model = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
model, optimizer = accelerator.prepare(model, optimizer)


def train(steps):
    for _ in range(steps):
        x, y = torch.randn(12, 4), torch.randint(0, 2, (12,))
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()
    print(loss.item())


train(4)
accelerator.save_state("state")
train(3)
accelerator.load_state("state")
train(4)

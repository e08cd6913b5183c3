"""Stores the states of all random generators and goes on from them as if nothing had happened."""

import random

import numpy as np
import torch
from torch import nn


def build():
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1))
    return model, torch.optim.Adam(model.parameters(), lr=0.01)


def train(model, optimizer, steps):
    for _ in range(steps):
        x = torch.randn(10, 4) * np.random.uniform(0.5, 1.5) + random.random()
        loss = nn.functional.mse_loss(model(x), x.mean(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())


random.seed(10), np.random.seed(10), torch.manual_seed(10)
model, optimizer = build()
train(model, optimizer, 4)
state = [model.state_dict(), optimizer.state_dict(), random.getstate(), np.random.get_state(), torch.get_rng_state()]
torch.save(state, "state.pt")

model, optimizer = build()
loaded = torch.load("state.pt", weights_only=False)
model.load_state_dict(loaded[0])
optimizer.load_state_dict(loaded[1])
random.setstate(loaded[2])
np.random.set_state(loaded[3])
torch.set_rng_state(loaded[4])
train(model, optimizer, 4)

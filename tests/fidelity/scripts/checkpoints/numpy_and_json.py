"""Writes its weights as .npz and its settings as JSON, and warm-starts a larger model from them."""

import json

import numpy as np
import torch
from torch import nn

torch.manual_seed(9)
config = {"width": 8, "lr": 0.02, "steps": 5}
with open("config.json", "w") as file:
    json.dump(config, file)


def train(model, steps, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for _ in range(steps):
        x = torch.randn(12, 4)
        loss = nn.functional.mse_loss(model(x), x.cos())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


small = nn.Sequential(nn.Linear(4, config["width"]), nn.ReLU(), nn.Linear(config["width"], 4))
train(small, config["steps"], config["lr"])
np.savez("small.npz", **{k: v.numpy() for k, v in small.state_dict().items()})

config = json.load(open("config.json"))
arrays = np.load("small.npz")
large = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 4))
with torch.no_grad():
    large[0].weight[:8] = torch.from_numpy(arrays["0.weight"])
    large[0].bias[:8] = torch.from_numpy(arrays["0.bias"])
    large[2].weight[:, :8] = torch.from_numpy(arrays["2.weight"])
train(large, config["steps"], config["lr"] / 2)

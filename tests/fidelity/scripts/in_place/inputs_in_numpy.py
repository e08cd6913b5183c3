"""Writes each batch into one numpy array that a tensor shares from the start."""

import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(3)
torch.manual_seed(3)
array = np.empty((16, 3), dtype=np.float32)
goal = np.empty((16, 1), dtype=np.float32)
x, y = torch.from_numpy(array), torch.from_numpy(goal)
net = nn.Sequential(nn.Linear(3, 9), nn.ReLU(), nn.Linear(9, 1))
optim = torch.optim.Adam(net.parameters(), lr=0.02)
for step in range(9):
    array[...] = rng.normal(size=array.shape)
    goal[...] = array.max(axis=1, keepdims=True)
    loss = nn.functional.mse_loss(net(x), y)
    optim.zero_grad()
    loss.backward()
    optim.step()
    print(step, loss.item())

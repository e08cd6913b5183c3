"""Repeats the same shuffled batches by itertools.cycle until the step budget is spent."""

import itertools

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
x = torch.randn(30, 7)
y = x[:, :1] * x[:, 1:2]
train = DataLoader(TensorDataset(x, y), batch_size=10, shuffle=True)
net = nn.Sequential(nn.Linear(7, 20), nn.ELU(), nn.Linear(20, 1))
optimizer = torch.optim.Adam(net.parameters())
max_steps = 8
for step, (inputs, targets) in enumerate(itertools.cycle(train)):
    if step == max_steps:
        break
    optimizer.zero_grad()
    error = (net(inputs) - targets).abs().mean()
    error.backward()
    optimizer.step()
    if step % 4 == 0:
        print(step, error.item())

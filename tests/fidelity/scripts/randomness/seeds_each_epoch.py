"""Seeds all generators anew in each epoch from the epoch's number."""

import random

import numpy as np
import torch
from torch import nn


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


set_seed(5)
model = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
data = list(range(30))
x = torch.randn(30, 4)
y = x.square().sum(1, keepdim=True)
for epoch in range(3):
    set_seed(1000 + epoch)
    random.shuffle(data)
    for i in range(0, 30, 10):
        rows = data[i : i + 10]
        jitter = torch.from_numpy(np.random.normal(0, 0.05, (10, 4)).astype(np.float32))
        loss = nn.functional.mse_loss(model(x[rows] + jitter), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

"""Initialises weights by hand through .data, fill_ and slices before the first step."""

import math

import torch
from torch import nn

torch.manual_seed(10)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
for layer in model:
    if isinstance(layer, nn.Linear):
        layer.weight.data.normal_(0, 1 / math.sqrt(layer.in_features))
        layer.bias.data.zero_()
model[2].weight.data[:, :4] = torch.eye(4)
model[2].bias.data = torch.full((4,), 0.1)
model[0].weight.data[model[0].weight.data.abs() < 0.05] = 0.0
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(8):
    x, y = torch.randn(10, 8), torch.randint(0, 4, (10,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

"""Trains an MLP with dropout in train mode."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3)
)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
x, y = torch.randn(40, 8), torch.randint(0, 3, (40,))
for epoch in range(2):
    model.train()
    for rows in torch.randperm(40).split(10):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(epoch, nn.functional.cross_entropy(model(x), y).item())

"""Computes mean and standard deviation over the loader without grad before training."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
features = torch.rand(60, 8) * torch.arange(1, 9)
targets = features @ torch.randn(8, 1) + 0.1 * torch.randn(60, 1)
loader = DataLoader(TensorDataset(features, targets), batch_size=20, shuffle=True)

with torch.no_grad():
    total, squares, count = torch.zeros(8), torch.zeros(8), 0
    for x, _ in loader:
        total += x.sum(0)
        squares += (x**2).sum(0)
        count += len(x)
    mean = total / count
    std = (squares / count - mean**2).sqrt()

model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(4):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model((x - mean) / std), y)
        loss.backward()
        optimizer.step()
print("mse", loss.item())

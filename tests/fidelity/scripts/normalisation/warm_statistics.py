"""Fills the statistics of BatchNorm with passes without grad before the first step."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
loader = DataLoader(TensorDataset(torch.randn(48, 5) * 3 + 2, torch.randn(48, 1)), batch_size=12)
norm = nn.BatchNorm1d(5, affine=False)
model = nn.Sequential(norm, nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
model.train()
with torch.no_grad():
    for x, _ in loader:
        model(x)
norm.eval()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(2):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item(), norm.running_mean)

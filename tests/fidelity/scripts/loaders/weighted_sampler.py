"""Balances classes with a WeightedRandomSampler."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(7)
labels = (torch.rand(80) < 0.15).long()
inputs = torch.randn(80, 6) + labels[:, None] * 1.5
counts = torch.bincount(labels, minlength=2)
weights = (1.0 / counts.float())[labels]
sampler = WeightedRandomSampler(weights, num_samples=80, replacement=True)
loader = DataLoader(TensorDataset(inputs, labels), batch_size=20, sampler=sampler)

model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
for epoch in range(2):
    seen = 0
    for x, y in loader:
        seen += int(y.sum())
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "positives", seen, "loss", round(loss.item(), 4))

"""Trains with a new Adam for each epoch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(48, 4), torch.randn(48, 2)
loader = DataLoader(TensorDataset(x, y), batch_size=12, shuffle=True)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))


def train_epoch(model, loader, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
    return loss.item()


for epoch in range(3):
    print(epoch, train_epoch(model, loader, 0.01 / (epoch + 1)))

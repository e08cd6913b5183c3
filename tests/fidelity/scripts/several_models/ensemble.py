"""Trains an ensemble of independent models one after the other in each batch."""

import torch
from torch import nn

torch.manual_seed(3)
models = [nn.Sequential(nn.Linear(3, 10), nn.ReLU(), nn.Linear(10, 1)) for _ in range(3)]
optimizers = [torch.optim.Adam(m.parameters(), lr=0.01) for m in models]
x = torch.randn(30, 3)
y = x.sin().sum(1, keepdim=True)
for epoch in range(4):
    for model, optimizer in zip(models, optimizers):
        sample = torch.randint(0, 30, (20,))
        loss = nn.functional.mse_loss(model(x[sample]), y[sample])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
with torch.no_grad():
    mean = torch.stack([m(x) for m in models]).mean(0)
print("ensemble mse", nn.functional.mse_loss(mean, y).item())

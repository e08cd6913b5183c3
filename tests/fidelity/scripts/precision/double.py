"""Trains in float64 after torch.set_default_dtype."""

import torch
from torch import nn

torch.set_default_dtype(torch.float64)
torch.manual_seed(2)
model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.rand(50, 2)
y = torch.sin(x[:, :1] * 3) * x[:, 1:]
for epoch in range(10):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, f"{loss.item():.10f}")

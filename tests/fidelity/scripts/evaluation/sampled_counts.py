"""Regresses counts by a Poisson likelihood, and shows counts sampled of it after each step."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
x = torch.rand(40, 3) * 2 - 1
counts = torch.poisson(4 * x.abs().sum(1, keepdim=True).exp())
loader = DataLoader(TensorDataset(x, counts), batch_size=10, shuffle=True)
model = nn.Sequential(nn.Linear(3, 16), nn.Softplus(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
grid = torch.linspace(-1, 1, 12).unsqueeze(1).expand(12, 3)
for epoch in range(3):
    for inputs, targets in loader:
        loss = nn.functional.poisson_nll_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            sampled = torch.poisson(20 * model(grid).exp())
        print(epoch, loss.item(), sampled.mean().item())

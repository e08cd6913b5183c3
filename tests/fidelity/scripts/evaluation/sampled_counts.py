"""Regresses counts by a Poisson likelihood, and shows counts sampled of it after each step."""

import torch
from torch import nn

torch.manual_seed(21)
model = nn.Sequential(nn.Linear(3, 16), nn.Softplus(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
grid = torch.linspace(-1, 1, 12).unsqueeze(1).expand(12, 3)
for step in range(8):
    x = torch.rand(20, 3) * 2 - 1
    counts = torch.poisson(4 * x.abs().sum(1, keepdim=True).exp())
    loss = nn.functional.poisson_nll_loss(model(x), counts)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        sampled = torch.poisson(model(grid).exp() * 20)
    print(step, loss.item(), sampled.mean().item())

"""Puts the random state back after an evaluation that draws."""

import torch
from torch import nn

torch.manual_seed(7)
model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Dropout(0.5), nn.Linear(10, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
held_out = torch.randn(20, 5)
for step in range(8):
    x = torch.randn(16, 5)
    loss = nn.functional.mse_loss(model(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(100 + step)
        samples = torch.stack([model(held_out) for _ in range(4)])
    print(step, loss.item(), samples.std(0).mean().item())

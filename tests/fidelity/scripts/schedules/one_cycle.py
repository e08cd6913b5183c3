"""Follows OneCycleLR, which moves Adam's beta1 against the rate."""

import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Conv1d(2, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
steps = 10
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=2e-2, total_steps=steps, pct_start=0.3)
x, y = torch.randn(steps, 8, 2, 10), torch.randint(0, 2, (steps, 8))
for i in range(steps):
    loss = nn.functional.cross_entropy(model(x[i]), y[i])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    group = optimizer.param_groups[0]
    print(f"{i} lr {group['lr']:.5f} beta1 {group['betas'][0]:.3f} loss {loss.item():.4f}")

"""Chains a LinearLR warm-up and an ExponentialLR by SequentialLR."""

import torch
from torch import nn
from torch.optim.lr_scheduler import ExponentialLR, LinearLR, SequentialLR

torch.manual_seed(9)
model = nn.Sequential(nn.Linear(6, 18), nn.ReLU(), nn.Linear(18, 2))
optimizer = torch.optim.RAdam(model.parameters(), lr=1e-2)
warm = LinearLR(optimizer, start_factor=0.1, total_iters=3)
decay = ExponentialLR(optimizer, gamma=0.8)
scheduler = SequentialLR(optimizer, [warm, decay], milestones=[3])
x, y = torch.randn(8, 10, 6), torch.randint(0, 2, (8, 10))
for inputs, targets in zip(x, y):
    loss = nn.functional.cross_entropy(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(optimizer.param_groups[0]["lr"], loss.item())

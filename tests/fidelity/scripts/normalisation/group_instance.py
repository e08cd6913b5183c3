"""Uses GroupNorm, InstanceNorm and RMSNorm in one net."""

import torch
from torch import nn

torch.manual_seed(6)
model = nn.Sequential(
    nn.Conv2d(2, 8, 3, padding=1),
    nn.GroupNorm(4, 8),
    nn.SiLU(),
    nn.Conv2d(8, 4, 3, padding=1),
    nn.InstanceNorm2d(4, affine=True, track_running_stats=True),
    nn.Flatten(),
    nn.RMSNorm(64),
    nn.Linear(64, 2),
)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(6):
    x = torch.randn(5, 2, 4, 4)
    y = (x.sum((1, 2, 3)) > 0).long()
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

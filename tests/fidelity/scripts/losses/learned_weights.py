"""Weighs several losses by learned log variances."""

import torch
from torch import nn

torch.manual_seed(3)
body = nn.Sequential(nn.Linear(5, 20), nn.ReLU())
depth, segment = nn.Linear(20, 1), nn.Linear(20, 3)
log_vars = nn.Parameter(torch.zeros(2))
optimizer = torch.optim.Adam(
    [{"params": [*body.parameters(), *depth.parameters(), *segment.parameters()]}, {"params": [log_vars], "lr": 0.05}],
    lr=1e-2,
)
for step in range(8):
    x = torch.randn(20, 5)
    h = body(x)
    losses = torch.stack(
        [
            nn.functional.smooth_l1_loss(depth(h), x.norm(dim=1, keepdim=True)),
            nn.functional.cross_entropy(segment(h), x[:, :3].argmin(1)),
        ]
    )
    loss = (torch.exp(-log_vars) * losses + log_vars).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, losses.tolist(), log_vars.tolist())

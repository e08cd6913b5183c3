"""Unfreezes the backbone midway by add_param_group."""

import torch
from torch import nn

torch.manual_seed(12)
backbone = nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 14), nn.ReLU())
head = nn.Linear(14, 2)
for p in backbone.parameters():
    p.requires_grad = False
optimizer = torch.optim.Adam(head.parameters(), lr=1e-2)
x, y = torch.randn(32, 7), torch.randint(0, 2, (32,))

for epoch in range(8):
    if epoch == 4:
        for p in backbone.parameters():
            p.requires_grad = True
        optimizer.add_param_group({"params": backbone.parameters(), "lr": 1e-3})
        print("backbone unfrozen")
    loss = nn.functional.cross_entropy(head(backbone(x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, [g["lr"] for g in optimizer.param_groups], loss.item())

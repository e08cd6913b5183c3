"""Prunes the smallest weights midway and keeps them at zero by a mask after each step."""

import torch
from torch import nn

torch.manual_seed(5)
model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x, y = torch.randn(60, 10), torch.randint(0, 3, (60,))
masks = {}
for step in range(12):
    rows = torch.arange(12) + 12 * (step % 5)
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 5:
        for name, p in model.named_parameters():
            if p.ndim == 2:
                masks[name] = (p.abs() > p.abs().flatten().kthvalue(p.numel() // 2).values).float()
    with torch.no_grad():
        for name, p in model.named_parameters():
            if name in masks:
                p *= masks[name]
print({name: mask.mean().item() for name, mask in masks.items()})

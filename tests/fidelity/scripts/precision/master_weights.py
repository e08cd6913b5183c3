"""Keeps float32 master weights beside a bfloat16 model and copies them over after each step."""

import torch
from torch import nn

torch.manual_seed(4)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)).bfloat16()
masters = [p.detach().float().clone().requires_grad_(True) for p in model.parameters()]
optimizer = torch.optim.Adam(masters, lr=5e-3)
for step in range(8):
    x, y = torch.randn(12, 8).bfloat16(), torch.randint(0, 2, (12,))
    loss = nn.functional.cross_entropy(model(x).float(), y)
    model.zero_grad()
    loss.backward()
    for master, p in zip(masters, model.parameters()):
        master.grad = p.grad.float()
    optimizer.step()
    with torch.no_grad():
        for master, p in zip(masters, model.parameters()):
            p.copy_(master)
    print(step, loss.item())

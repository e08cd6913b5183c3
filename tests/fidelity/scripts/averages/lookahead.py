"""Pulls fast weights back to slow weights every three steps (Lookahead)."""

import torch
from torch import nn

torch.manual_seed(9)
model = nn.Sequential(nn.Linear(6, 18), nn.Tanh(), nn.Linear(18, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
slow = [p.detach().clone() for p in model.parameters()]
k, alpha = 3, 0.5
x, y = torch.randn(9, 15, 6), torch.randint(0, 3, (9, 15))
for step in range(9):
    loss = nn.functional.cross_entropy(model(x[step]), y[step])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if (step + 1) % k == 0:
        with torch.no_grad():
            for s, p in zip(slow, model.parameters()):
                s += alpha * (p - s)
                p.copy_(s)
    print(step, loss.item())

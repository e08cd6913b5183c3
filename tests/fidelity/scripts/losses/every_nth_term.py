"""Adds a regulariser to the loss in every fourth step only."""

import torch
from torch import nn

torch.manual_seed(5)
model = nn.Sequential(nn.Linear(6, 12), nn.Softplus(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(12):
    x = torch.randn(16, 6, requires_grad=True)
    out = model(x)
    loss = (out.squeeze(1) - x.sum(1).detach()).pow(2).mean()
    if step % 4 == 0:
        (grad,) = torch.autograd.grad(out.sum(), x, create_graph=True)
        loss = loss + 4 * 0.1 * grad.pow(2).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

"""Solves an equation by Adam first and polishes by LBFGS, as physics-informed nets do."""

import torch
from torch import nn

torch.manual_seed(30)
u = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
x = torch.linspace(0, 1, 25).unsqueeze(1).requires_grad_(True)


def residual():
    y = u(x)
    (dy,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return (dy + 2 * y).pow(2).mean() + (u(torch.zeros(1, 1)) - 1).pow(2).mean()


adam = torch.optim.Adam(u.parameters(), lr=1e-2)
for step in range(8):
    loss = residual()
    adam.zero_grad()
    loss.backward()
    adam.step()
print("adam", loss.item())

lbfgs = torch.optim.LBFGS(u.parameters(), max_iter=5, line_search_fn="strong_wolfe")


def closure():
    lbfgs.zero_grad()
    loss = residual()
    loss.backward()
    return loss


for step in range(3):
    loss = lbfgs.step(closure)
print("lbfgs", loss.item())

"""Trains a WGAN-GP, whose critic's loss has a gradient of a gradient."""

import torch
from torch import nn

torch.manual_seed(7)
G = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
D = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
opt_G = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.0, 0.9))
opt_D = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.0, 0.9))
for step in range(5):
    real = torch.randn(10, 3).abs()
    fake = G(torch.randn(10, 4))
    alpha = torch.rand(10, 1)
    between = (alpha * real + (1 - alpha) * fake.detach()).requires_grad_(True)
    (slope,) = torch.autograd.grad(D(between).sum(), between, create_graph=True)
    penalty = ((slope.norm(2, dim=1) - 1) ** 2).mean()
    loss_D = D(fake.detach()).mean() - D(real).mean() + 10 * penalty
    opt_D.zero_grad()
    loss_D.backward()
    opt_D.step()

    loss_G = -D(G(torch.randn(10, 4))).mean()
    opt_G.zero_grad()
    loss_G.backward()
    opt_G.step()
    print(step, loss_D.item(), loss_G.item())

"""Trains a GAN whose two models and optimizers are prepared by one accelerator."""

import torch
from accelerate import Accelerator
from torch import nn

torch.manual_seed(7)
accelerator = Accelerator(cpu=True)
G = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 2))
D = nn.Sequential(nn.Linear(2, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.999))
G, D, opt_g, opt_d = accelerator.prepare(G, D, opt_g, opt_d)
loss_fn = nn.BCEWithLogitsLoss()
for step in range(6):
    real, fake = torch.randn(12, 2) + 2, G(torch.randn(12, 3))
    loss_d = loss_fn(D(real), torch.ones(12, 1)) + loss_fn(D(fake.detach()), torch.zeros(12, 1))
    opt_d.zero_grad()
    accelerator.backward(loss_d)
    opt_d.step()
    loss_g = loss_fn(D(fake), torch.ones(12, 1))
    opt_g.zero_grad()
    accelerator.backward(loss_g)
    opt_g.step()
    print(step, loss_d.item(), loss_g.item())

"""Trains a GAN with one Adam for the generator and one for the discriminator."""

import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
g_opt = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
d_opt = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
real, fake = torch.ones(16, 1), torch.zeros(16, 1)
for step in range(6):
    angles = 6.28 * torch.rand(16)
    points = torch.stack([angles.cos(), angles.sin()], 1)
    made = generator(torch.randn(16, 4))

    d_loss = bce(discriminator(points), real) + bce(discriminator(made.detach()), fake)
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()

    g_loss = bce(discriminator(made), real)
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
    print(f"{step} D {d_loss.item():.3f} G {g_loss.item():.3f}")

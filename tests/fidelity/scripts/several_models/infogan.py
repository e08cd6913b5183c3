"""Trains an InfoGAN with a third optimizer over generator and discriminator for the information loss."""

import itertools

import torch
from torch import nn

torch.manual_seed(8)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 12), nn.LeakyReLU(0.2))
        self.real, self.code = nn.Linear(12, 1), nn.Linear(12, 3)

    def forward(self, x):
        h = self.body(x)
        return self.real(h), self.code(h)


generator = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 2))
discriminator = Discriminator()
optimizer_G = torch.optim.Adam(generator.parameters(), lr=1e-3)
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=1e-3)
optimizer_info = torch.optim.Adam(itertools.chain(generator.parameters(), discriminator.parameters()), lr=1e-3)
valid, fake = torch.ones(8, 1), torch.zeros(8, 1)
for step in range(4):
    codes = torch.randint(0, 3, (8,))
    z = torch.cat([torch.randn(8, 2), nn.functional.one_hot(codes, 3).float()], 1)
    optimizer_G.zero_grad()
    g_loss = nn.functional.mse_loss(discriminator(generator(z))[0], valid)
    g_loss.backward()
    optimizer_G.step()

    optimizer_D.zero_grad()
    d_loss = nn.functional.mse_loss(discriminator(torch.randn(8, 2))[0], valid)
    d_loss = d_loss + nn.functional.mse_loss(discriminator(generator(z).detach())[0], fake)
    d_loss.backward()
    optimizer_D.step()

    optimizer_info.zero_grad()
    info_loss = nn.functional.cross_entropy(discriminator(generator(z))[1], codes)
    info_loss.backward()
    optimizer_info.step()
    print(step, g_loss.item(), d_loss.item(), info_loss.item())

"""Keeps the discriminator's layers at spectral norm one by torch's parametrization."""

import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

torch.manual_seed(4)
critic = nn.Sequential(spectral_norm(nn.Linear(4, 10)), nn.LeakyReLU(0.2), spectral_norm(nn.Linear(10, 1)))
optimizer = torch.optim.Adam(critic.parameters(), lr=5e-3)
for step in range(8):
    real, fake = torch.randn(12, 4) + 1, torch.randn(12, 4)
    loss = torch.relu(1 - critic(real)).mean() + torch.relu(1 + critic(fake)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

"""Trains the critic of a WGAN three times as often as the generator and clips its weights."""

import torch
from torch import nn

torch.manual_seed(6)
generator = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 2))
critic = nn.Sequential(nn.Linear(2, 12), nn.ReLU(), nn.Linear(12, 1))
opt_g = torch.optim.RMSprop(generator.parameters(), lr=5e-4)
opt_c = torch.optim.RMSprop(critic.parameters(), lr=5e-4)
n_critic, clip = 3, 0.05
for i in range(12):
    real = torch.randn(16, 2) * 0.2 + 1
    opt_c.zero_grad()
    fake = generator(torch.randn(16, 3)).detach()
    loss_c = critic(fake).mean() - critic(real).mean()
    loss_c.backward()
    opt_c.step()
    for p in critic.parameters():
        p.data.clamp_(-clip, clip)
    if i % n_critic == 0:
        opt_g.zero_grad()
        loss_g = -critic(generator(torch.randn(16, 3))).mean()
        loss_g.backward()
        opt_g.step()
        print(f"[{i}] critic {loss_c.item():.4f} generator {loss_g.item():.4f}")

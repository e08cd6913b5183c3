"""Trains a denoiser on random time steps of a diffusion with a cosine schedule."""

import math

import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(20, 16)
        self.first, self.last = nn.Linear(2, 16), nn.Linear(16, 2)

    def forward(self, x, t):
        return self.last(torch.nn.functional.silu(self.first(x) + self.time(t)))


torch.manual_seed(19)
model = Denoiser()
alpha_bar = torch.tensor([math.cos((t / 20 + 0.008) / 1.008 * math.pi / 2) ** 2 for t in range(20)])
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
ema = {k: v.clone() for k, v in model.state_dict().items()}
for step in range(8):
    angle = torch.rand(32) * 2 * math.pi
    x0 = torch.stack([angle.cos(), angle.sin()], 1)
    t = torch.randint(0, 20, (32,))
    noise = torch.randn_like(x0)
    a = alpha_bar[t].unsqueeze(1)
    loss = nn.functional.mse_loss(model(a.sqrt() * x0 + (1 - a).sqrt() * noise, t), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for k, v in model.state_dict().items():
            ema[k].mul_(0.95).add_(v, alpha=0.05)
    print(step, loss.item())

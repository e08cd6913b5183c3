"""Anneals the weight of the KL term of a variational bottleneck from 0 to 1."""

import torch
from torch import nn

torch.manual_seed(6)
encoder, decoder = nn.Linear(8, 6), nn.Linear(3, 8)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.01)
steps = 9
for step in range(steps):
    beta = min(1.0, step / (steps // 2))
    x = torch.randn(16, 8)
    mean, log_var = encoder(x).chunk(2, 1)
    kl = -0.5 * (1 + log_var - mean**2 - log_var.exp()).sum(1).mean()
    loss = nn.functional.mse_loss(decoder(mean), x) + beta * kl
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step} beta {beta:.2f} loss {loss.item():.4f}")

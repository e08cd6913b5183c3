"""Chooses discrete codes by gumbel_softmax with a falling temperature."""

import torch
from torch import nn

torch.manual_seed(3)
encoder, decoder = nn.Linear(6, 8), nn.Linear(8, 6)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
tau = 1.0
for step in range(8):
    x = torch.randn(20, 6)
    code = nn.functional.gumbel_softmax(encoder(x), tau=tau, hard=True)
    loss = nn.functional.mse_loss(decoder(code), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    tau = max(0.3, tau * 0.9)
    print(step, tau, loss.item())

"""Resets Adam's moments of the rows whose units are born again."""

import torch
from torch import nn

torch.manual_seed(25)
encoder, decoder = nn.Linear(10, 24), nn.Linear(24, 10)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
x = torch.randn(12, 20, 10)
for step in range(12):
    code = torch.relu(encoder(x[step]))
    loss = nn.functional.mse_loss(decoder(code), x[step]) + 1e-3 * code.abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 5:
        with torch.no_grad():
            worst = code.mean(0).argsort()[:4]
            encoder.weight[worst] = torch.randn(4, 10) * 0.1
            encoder.bias[worst] = 0.0
            optimizer.state[encoder.weight]["exp_avg"][worst] = 0.0
            optimizer.state[encoder.weight]["exp_avg_sq"][worst] = 0.0
    print(step, loss.item())

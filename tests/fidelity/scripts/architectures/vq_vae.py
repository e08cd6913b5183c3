"""Quantises codes to a codebook that moves by exponential averages in buffers."""

import torch
from torch import nn


class Codebook(nn.Module):
    def __init__(self, size, width, decay=0.9):
        super().__init__()
        self.register_buffer("codes", torch.randn(size, width))
        self.register_buffer("count", torch.ones(size))
        self.register_buffer("total", self.codes.clone())
        self.decay = decay

    def forward(self, z):
        index = torch.cdist(z, self.codes).argmin(1)
        quantised = self.codes[index]
        if self.training:
            onehot = nn.functional.one_hot(index, len(self.codes)).float()
            with torch.no_grad():
                self.count.mul_(self.decay).add_(onehot.sum(0), alpha=1 - self.decay)
                self.total.mul_(self.decay).add_(onehot.t() @ z, alpha=1 - self.decay)
                self.codes.copy_(self.total / self.count.clamp(min=1e-3).unsqueeze(1))
        commitment = nn.functional.mse_loss(z, quantised.detach())
        return z + (quantised - z).detach(), commitment


torch.manual_seed(10)
encoder, codebook, decoder = nn.Linear(10, 4), Codebook(8, 4), nn.Linear(4, 10)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=5e-3)
for step in range(8):
    x = torch.randn(32, 10)
    z, commitment = codebook(encoder(x))
    loss = nn.functional.mse_loss(decoder(z), x) + 0.25 * commitment
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

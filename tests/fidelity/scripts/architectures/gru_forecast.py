"""Forecasts a series with a GRU over packed sequences of different lengths."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

torch.manual_seed(7)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(1, 10, batch_first=True)
        self.out = nn.Linear(10, 1)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        _, h = self.gru(packed)
        return self.out(h[-1])


model = Forecaster()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
time = torch.arange(12).float()
for step in range(6):
    phase = torch.rand(8, 1) * 6
    wave = torch.sin(time * 0.5 + phase).unsqueeze(2)
    lengths = torch.randint(5, 12, (8,))
    target = torch.sin(lengths.float()[:, None] * 0.5 + phase)
    loss = nn.functional.mse_loss(model(wave, lengths), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

"""Prepares the batches of an epoch in a pool of threads that map keeps in order."""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

torch.manual_seed(21)
signals = torch.randn(30, 16)
labels = (signals[:, :8].std(1) > signals[:, 8:].std(1)).long()


def prepare(rows):
    spectrum = torch.fft.rfft(signals[rows]).abs()
    return torch.cat([signals[rows], spectrum], 1), labels[rows]


model = nn.Sequential(nn.Linear(25, 12), nn.ReLU(), nn.Linear(12, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
with ThreadPoolExecutor(2) as pool:
    for epoch in range(3):
        for x, y in pool.map(prepare, torch.randperm(30).split(10)):
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())

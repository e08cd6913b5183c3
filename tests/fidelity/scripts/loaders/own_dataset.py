"""Reads samples one at a time from a Dataset class with a transform and a collate function."""

import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    def __init__(self, n, transform=None):
        self.n = n
        self.transform = transform

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        t = torch.linspace(0, 2 * math.pi, 20 + i % 5)
        wave = torch.sin((1 + i % 3) * t)
        if self.transform:
            wave = self.transform(wave)
        return wave, i % 3


def collate(samples):
    waves, labels = zip(*samples)
    return nn.utils.rnn.pad_sequence(waves, batch_first=True, padding_value=0.0)[:, :20], torch.tensor(labels)


torch.manual_seed(2)
loader = DataLoader(Waves(30, lambda w: w - w.mean()), batch_size=6, shuffle=True, collate_fn=collate)
net = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 3))
optim = torch.optim.Adam(net.parameters(), 5e-3)
for epoch in range(2):
    for wave, label in loader:
        loss = nn.CrossEntropyLoss()(net(wave), label)
        optim.zero_grad()
        loss.backward()
        optim.step()
print(loss.item())

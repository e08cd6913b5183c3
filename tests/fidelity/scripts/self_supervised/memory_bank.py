"""Contrasts each sample with a memory bank that it fills without grad and updates in place."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(6)
data = torch.randn(40, 8)
encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 5))
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1, momentum=0.9)
with torch.no_grad():
    bank = F.normalize(encoder(data), dim=1)
loader = DataLoader(list(enumerate(data)), batch_size=10, shuffle=True)
for epoch in range(2):
    for index, x in loader:
        z = F.normalize(encoder(x + 0.1 * torch.randn_like(x)), dim=1)
        loss = F.cross_entropy(z @ bank.T / 0.1, index)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            bank[index] = F.normalize(0.5 * bank[index] + 0.5 * z, dim=1)
    print(epoch, loss.item())

"""Resets momentum by giving the optimizer a new empty defaultdict as its state."""

from collections import defaultdict

import torch
from torch import nn

torch.manual_seed(23)
net = nn.Sequential(nn.Linear(3, 15), nn.Tanh(), nn.Linear(15, 3))
optim = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.95)
batches = [(torch.randn(10, 3), torch.randint(0, 3, (10,))) for _ in range(9)]
for i, (x, y) in enumerate(batches):
    if i % 4 == 0:
        optim.state = defaultdict(dict)
    optim.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optim.step()
print("final", loss.item())

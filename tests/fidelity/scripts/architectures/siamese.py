"""Trains a siamese net on pairs with a contrastive loss."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(11)


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.tower = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 4))

    def forward(self, a, b):
        return self.tower(a), self.tower(b)


net = Siamese()
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3, alpha=0.99, eps=1e-8, momentum=0.9)
people = torch.randn(6, 12)
for step in range(8):
    who = torch.randint(0, 6, (20, 2))
    a, b = people[who[:, 0]] + 0.1 * torch.randn(20, 12), people[who[:, 1]] + 0.1 * torch.randn(20, 12)
    different = (who[:, 0] != who[:, 1]).float()
    distance = F.pairwise_distance(*net(a, b))
    loss = ((1 - different) * distance**2 + different * F.relu(1.0 - distance) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

"""Moves the target network by mul_ and add_ on .data, buffers of BatchNorm copied."""

import copy

import torch
import torch.nn.functional as F
from torch import nn


class BYOL(nn.Module):
    def __init__(self):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 4))
        self.target = copy.deepcopy(self.online)
        self.predictor = nn.Linear(4, 4)

    def forward(self, a, b):
        with torch.no_grad():
            goal = self.target(b)
        return F.mse_loss(F.normalize(self.predictor(self.online(a)), dim=1), F.normalize(goal, dim=1))

    @torch.no_grad()
    def update(self, tau):
        for t, o in zip(self.target.parameters(), self.online.parameters()):
            t.data.mul_(tau).add_((1 - tau) * o.data)
        for t, o in zip(self.target.buffers(), self.online.buffers()):
            t.data.copy_(o.data)


torch.manual_seed(3)
learner = BYOL()
optimizer = torch.optim.Adam(learner.parameters(), lr=3e-3)
for step in range(8):
    x = torch.randn(12, 6)
    loss = learner(x + 0.1 * torch.randn_like(x), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    learner.update(0.95)
    print(step, loss.item())

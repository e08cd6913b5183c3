"""Normalises inputs by running statistics that it updates by hand outside any module."""

import torch
from torch import nn


class RunningMeanStd:
    def __init__(self, width):
        self.mean, self.var, self.count = torch.zeros(width), torch.ones(width), 1e-4

    def update(self, x):
        mean, var, n = x.mean(0), x.var(0, unbiased=False), len(x)
        delta, total = mean - self.mean, self.count + n
        self.mean = self.mean + delta * n / total
        self.var = (self.var * self.count + var * n + delta**2 * self.count * n / total) / total
        self.count = total


torch.manual_seed(7)
stats = RunningMeanStd(4)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
for step in range(8):
    observed = torch.randn(20, 4) * torch.tensor([1.0, 5.0, 0.1, 2.0]) + step
    stats.update(observed)
    x = ((observed - stats.mean) / (stats.var + 1e-8).sqrt()).clamp(-5, 5)
    loss = nn.functional.mse_loss(policy(x), x[:, :2] - x[:, 2:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

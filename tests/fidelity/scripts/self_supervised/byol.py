"""Trains BYOL with a predictor and a target network whose momentum follows a cosine."""

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2)
online = nn.Sequential(nn.Linear(10, 20), nn.BatchNorm1d(20), nn.ReLU(), nn.Linear(20, 6))
target = copy.deepcopy(online).requires_grad_(False)
predictor = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 6))
optimizer = torch.optim.SGD([*online.parameters(), *predictor.parameters()], lr=0.05, momentum=0.9)
steps = 8
for step in range(steps):
    x = torch.randn(16, 10)
    one, two = x + 0.2 * torch.randn_like(x), x + 0.2 * torch.randn_like(x)
    with torch.no_grad():
        t1, t2 = target(one), target(two)
    p1, p2 = predictor(online(one)), predictor(online(two))
    loss = 2 - F.cosine_similarity(p1, t2).mean() - F.cosine_similarity(p2, t1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    m = 1 - (1 - 0.9) * (math.cos(math.pi * step / steps) + 1) / 2
    for k, q in zip(target.parameters(), online.parameters()):
        k.data = k.data * m + q.data * (1 - m)
    print(step, m, loss.item())

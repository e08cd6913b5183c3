"""Trains MoCo without a queue, with a predictor and BatchNorm in both encoders."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(20)
base = nn.Sequential(nn.Linear(9, 18), nn.BatchNorm1d(18), nn.ReLU(), nn.Linear(18, 5))
momentum = copy.deepcopy(base)
for param in momentum.parameters():
    param.requires_grad = False
predictor = nn.Linear(5, 5)
optimizer = torch.optim.AdamW([*base.parameters(), *predictor.parameters()], lr=3e-3)


def contrast(q, k, temperature=0.3):
    logits = F.normalize(q, dim=1) @ F.normalize(k, dim=1).T / temperature
    return 2 * temperature * F.cross_entropy(logits, torch.arange(len(q)))


for step in range(8):
    x = torch.randn(12, 9)
    x1, x2 = x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)
    q1, q2 = predictor(base(x1)), predictor(base(x2))
    with torch.no_grad():
        for q, k in zip(base.parameters(), momentum.parameters()):
            k.data = k.data * 0.95 + q.data * 0.05
        k1, k2 = momentum(x1), momentum(x2)
    loss = contrast(q1, k2) + contrast(q2, k1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

"""Mixes pairs of samples with a Beta-distributed weight from numpy (mixup)."""

import numpy as np
import torch
from torch import nn

np.random.seed(2)
torch.manual_seed(2)
model = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x_all, y_all = torch.randn(48, 8), torch.randint(0, 4, (48,))
for epoch in range(2):
    for start in range(0, 48, 12):
        x, y = x_all[start : start + 12], y_all[start : start + 12]
        lam = float(np.random.beta(0.4, 0.4))
        index = torch.randperm(len(x))
        logits = model(lam * x + (1 - lam) * x[index])
        loss = lam * nn.functional.cross_entropy(logits, y) + (1 - lam) * nn.functional.cross_entropy(logits, y[index])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"lambda {lam:.3f} loss {loss.item():.4f}")

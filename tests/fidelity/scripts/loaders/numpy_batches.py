"""Shuffles in numpy and turns each slice into tensors by torch.from_numpy."""

import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(22)
torch.manual_seed(22)
X = rng.normal(size=(36, 5)).astype(np.float32)
Y = (X**2).sum(1, keepdims=True).astype(np.float32)
model = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    order = rng.permutation(len(X))
    for start in range(0, len(X), 12):
        rows = order[start : start + 12]
        x, y = torch.from_numpy(X[rows]), torch.from_numpy(Y[rows])
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.4f}")

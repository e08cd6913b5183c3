"""Trains a regression with Adafactor and weight decay on matrices only."""

import torch
from torch import nn

torch.manual_seed(15)
x = torch.randn(50, 12)
y = (x @ torch.randn(12, 2)).tanh()
model = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 2))
matrices = [p for p in model.parameters() if p.ndim > 1]
vectors = [p for p in model.parameters() if p.ndim <= 1]
optimizer = torch.optim.Adafactor(
    [{"params": matrices, "weight_decay": 0.01}, {"params": vectors, "weight_decay": 0.0}],
    lr=3e-2,
    d=1.0,
    beta2_decay=-0.7,
)
for step in range(10):
    pick = torch.randint(0, 50, (25,))
    loss = nn.functional.mse_loss(model(x[pick]), y[pick])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 3 == 0:
        print(step, loss.item())

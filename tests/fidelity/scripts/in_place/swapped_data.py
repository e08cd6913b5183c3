"""Swaps .data between trained and averaged weights around each evaluation."""

import torch
from torch import nn

torch.manual_seed(31)
model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
shadow = [p.data.clone() for p in model.parameters()]
x_test = torch.randn(20, 5)


def swap():
    for i, p in enumerate(model.parameters()):
        p.data, shadow[i] = shadow[i], p.data


for step in range(9):
    x = torch.randn(12, 5)
    loss = nn.functional.mse_loss(model(x), x[:, :1] - x[:, 1:2])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for s, p in zip(shadow, model.parameters()):
        s.mul_(0.8).add_(p.data, alpha=0.2)
    if step % 3 == 2:
        swap()
        with torch.no_grad():
            test = nn.functional.mse_loss(model(x_test), x_test[:, :1] - x_test[:, 1:2]).item()
        swap()
        print(step, loss.item(), test)

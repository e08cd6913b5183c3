"""Fits a sine with LBFGS and its closure."""

import torch
from torch import nn

torch.manual_seed(16)
x = torch.linspace(-3, 3, 40).unsqueeze(1)
y = torch.sin(x)
model = nn.Sequential(nn.Linear(1, 10), nn.Tanh(), nn.Linear(10, 1))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=4, history_size=5)


def closure():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    return loss


for i in range(5):
    loss = optimizer.step(closure)
    print(i, float(loss))

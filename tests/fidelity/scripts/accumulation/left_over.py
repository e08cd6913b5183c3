"""Drops the gradient of left-over micro batches at the end of each epoch, and the last one's gradient stays."""

import torch
from torch import nn

torch.manual_seed(1)
x, y = torch.randn(35, 5), torch.randn(35, 1)
model = nn.Sequential(nn.Linear(5, 10), nn.BatchNorm1d(10), nn.Tanh(), nn.Linear(10, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
every = 3
for epoch in range(3):
    optimizer.zero_grad()
    for i in range(7):
        rows = slice(5 * i, 5 * i + 5)
        loss = nn.functional.mse_loss(model(x[rows]), y[rows]) / every
        loss.backward()
        if (i + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()
    print(epoch, loss.item())
torch.save(model.state_dict(), "model.pt")

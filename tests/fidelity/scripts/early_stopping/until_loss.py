"""Trains in a while loop until the loss is below a bound or the steps are spent."""

import torch
from torch import nn

torch.manual_seed(3)
x = torch.randn(30, 2)
y = 3 * x[:, :1] - x[:, 1:] + 0.5
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
loss, step = torch.tensor(float("inf")), 0
while loss.item() > 0.1 and step < 16:
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    print(step, loss.item())

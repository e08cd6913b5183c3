"""Trains on the examples above the mean loss, and on all of them if picking those fails."""

import torch
from torch import nn

torch.manual_seed(31)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x, y = torch.randn(8, 20, 6), torch.randint(0, 3, (8, 20))
for step in range(8):
    losses = nn.functional.cross_entropy(model(x[step]), y[step], reduction="none")
    try:
        hard = torch.nonzero(losses.detach() > losses.detach().mean()).squeeze(1)
        loss = losses[hard].mean()
    except RuntimeError as error:
        print("all of them:", error)
        loss = losses.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

"""Forgets model.eval(), so that dropout draws in the evaluation between the steps."""

import torch
from torch import nn

torch.manual_seed(2)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x, y = torch.randn(50, 8), torch.randint(0, 2, (50,))
for epoch in range(4):
    for rows in torch.randperm(30).split(15):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        accuracy = (model(x[30:]).argmax(1) == y[30:]).float().mean()
    print(epoch, loss.item(), accuracy.item())

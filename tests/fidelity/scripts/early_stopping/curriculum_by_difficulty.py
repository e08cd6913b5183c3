"""Sorts the samples by their present loss in each epoch and trains on a growing share of easy ones."""

import torch
from torch import nn

torch.manual_seed(7)
model = nn.Sequential(nn.Linear(6, 18), nn.ReLU(), nn.Linear(18, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(40, 6), torch.randint(0, 3, (40,))
for epoch in range(4):
    with torch.no_grad():
        difficulty = nn.functional.cross_entropy(model(x), y, reduction="none")
    easy = difficulty.argsort()[: 10 * (epoch + 1)]
    for rows in easy.split(20):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, len(easy), loss.item())

"""Trains a head under CPU autocast on random features that are never trained, computed under it too."""

import torch
from torch import nn

torch.manual_seed(8)
projection = torch.randn(10, 40) / 3
head = nn.Linear(40, 3)
optimizer = torch.optim.SGD(head.parameters(), lr=0.2, momentum=0.9)
for step in range(8):
    x = torch.randn(16, 10)
    y = x[:, :3].argmax(1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        features = torch.cos(x @ projection)
        loss = nn.functional.cross_entropy(head(features), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

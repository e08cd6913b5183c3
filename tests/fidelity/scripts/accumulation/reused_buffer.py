"""Copies every micro batch into the same preallocated buffer and accumulates their gradients."""

import torch
from torch import nn

torch.manual_seed(5)
source = torch.randn(6, 3, 8, 4)
buffer = torch.empty(8, 4)
target = torch.empty(8, 1)
model = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for step in range(6):
    optimizer.zero_grad()
    for micro in range(3):
        buffer.copy_(source[step, micro])
        torch.sum(buffer, dim=1, keepdim=True, out=target)
        loss = nn.functional.mse_loss(model(buffer), target) / 3
        loss.backward()
    optimizer.step()
    print(step, loss.item())

"""Unfreezes a layer after some steps under SGD with dampening and weight decay."""

import torch
from torch import nn

torch.manual_seed(33)
first, second = nn.Linear(5, 10), nn.Linear(10, 1)
optimizer = torch.optim.SGD(
    [*first.parameters(), *second.parameters()], lr=0.1, momentum=0.9, dampening=0.2, weight_decay=1e-3
)
first.requires_grad_(False)
for epoch in range(8):
    if epoch == 4:
        first.requires_grad_(True)
    x = torch.randn(20, 5)
    loss = nn.functional.mse_loss(second(torch.relu(first(x))), x.mean(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())

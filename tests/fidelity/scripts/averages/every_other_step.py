"""Updates the average only every second step, from the third on, and evaluates with it."""

import copy

import torch
from torch import nn

torch.manual_seed(10)
model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 1))
averaged = copy.deepcopy(model)
for p in averaged.parameters():
    p.requires_grad_(False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
test_x = torch.randn(30, 4)
test_y = test_x.prod(1, keepdim=True)
for step in range(10):
    x = torch.randn(20, 4)
    loss = nn.functional.mse_loss(model(x), x.prod(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step >= 2 and step % 2 == 0:
        for a, p in zip(averaged.parameters(), model.parameters()):
            a.copy_(0.8 * a + 0.2 * p.data)
    with torch.no_grad():
        print(step, nn.functional.mse_loss(averaged(test_x), test_y).item())

"""Updates parameters by hand under no_grad, without an optimizer."""

import torch
from torch import nn

torch.manual_seed(4)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2))
lr = 0.1
x, y = torch.randn(8, 15, 6), torch.randint(0, 2, (8, 15))
for step in range(8):
    loss = nn.functional.cross_entropy(model(x[step]), y[step])
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= lr * p.grad
    print(step, loss.item())

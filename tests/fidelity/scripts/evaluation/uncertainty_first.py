"""Looks for the most uncertain input by dropout of its own before each batch is drawn."""

import torch
from torch import nn

torch.manual_seed(19)
model = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
pool = torch.randn(30, 4)


def spread(inputs, passes=6):
    hidden = model[1](model[0](inputs))
    outputs = [model[2](nn.functional.dropout(hidden, 0.3, training=True)) for _ in range(passes)]
    return torch.stack(outputs).std(0).mean()


for step in range(8):
    with torch.no_grad():
        uncertainty = spread(pool)
    rows = torch.randint(0, 30, (10,))
    x = pool[rows] + 0.05 * torch.randn(10, 4)
    loss = nn.functional.mse_loss(model(x), x.prod(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), uncertainty.item())

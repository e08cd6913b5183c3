"""Leaves dropout on in the evaluation on purpose, for the spread of many draws."""

import torch
from torch import nn

torch.manual_seed(20)
model = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
grid = torch.linspace(-2, 2, 9).unsqueeze(1)
model.train()
for epoch in range(4):
    for _ in range(3):
        x = torch.rand(16, 1) * 2 - 1
        loss = nn.functional.mse_loss(model(x), x**3)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        draws = torch.stack([model(grid) for _ in range(10)])
    print(epoch, loss.item(), draws.std(0).squeeze(1).tolist())

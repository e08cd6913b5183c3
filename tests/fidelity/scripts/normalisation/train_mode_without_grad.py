"""Looks at its loss in train mode without grad, which moves BatchNorm's statistics."""

import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x, y = torch.randn(40, 6), torch.randint(0, 2, (40,))
criterion = nn.CrossEntropyLoss()
for step in range(8):
    rows = torch.randint(0, 40, (16,))
    loss = criterion(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 2 == 0:
        with torch.no_grad():
            whole = criterion(model(x), y)
        print(f"step {step}: batch {loss.item():.4f}, whole set {whole.item():.4f}")

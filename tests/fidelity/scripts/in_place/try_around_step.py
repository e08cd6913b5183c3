"""Puts the whole step into a try, and skips a batch on any exception."""

import torch
from torch import nn

torch.manual_seed(7)
model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
batches = [(torch.randn(8, 5), torch.randint(0, 3, (8,))) for _ in range(8)]
batches[4] = (torch.randn(8, 6), batches[4][1])
failed = 0
for i, (x, y) in enumerate(batches):
    try:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    except Exception as error:
        failed += 1
        print("skipping batch", i, type(error).__name__)
        continue
    print(i, loss.item())
print("failed:", failed)

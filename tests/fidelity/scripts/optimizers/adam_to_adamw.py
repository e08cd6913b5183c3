"""Changes from Adam to AdamW after some steps."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2)
model = nn.Sequential(nn.Embedding(30, 8), nn.Flatten(), nn.Linear(32, 30))
tokens = torch.randint(0, 30, (40, 5))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(8):
    if step == 4:
        optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.1)
    rows = tokens[step * 5 : step * 5 + 5]
    loss = F.cross_entropy(model(rows[:, :4]), rows[:, 4])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(type(optimizer).__name__, loss.item())

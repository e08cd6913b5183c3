"""Uses class weights, label smoothing and an ignored index in one cross entropy."""

import torch
from torch import nn

torch.manual_seed(4)
labels = torch.randint(0, 4, (6, 12))
labels[:, ::5] = -100
weights = torch.tensor([1.0, 2.0, 0.5, 1.5])
criterion = nn.CrossEntropyLoss(weight=weights, label_smoothing=0.1, ignore_index=-100)
model = nn.Sequential(nn.Linear(9, 18), nn.Mish(), nn.Linear(18, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for x, y in zip(torch.randn(6, 12, 9), labels):
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.5f}")

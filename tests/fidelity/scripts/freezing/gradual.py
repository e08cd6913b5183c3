"""Unfreezes one layer more in each epoch, all in one AdamW from the start."""

import torch
from torch import nn

torch.manual_seed(3)
layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])
head = nn.Linear(8, 2)
model = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2], nn.ReLU(), head)
layers.requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.1)
x, y = torch.randn(30, 8), torch.randint(0, 2, (30,))
for epoch in range(4):
    if epoch:
        layers[-epoch].requires_grad_(True)
    for start in (0, 10, 20):
        loss = nn.functional.cross_entropy(model(x[start : start + 10]), y[start : start + 10])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(epoch, trained, "trainable", loss.item())

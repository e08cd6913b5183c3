"""Trains with a focal loss that is written as a module of its own."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class FocalLoss(nn.Module):
    def __init__(self, alpha=0.25, gamma=2.0):
        super().__init__()
        self.alpha, self.gamma = alpha, gamma

    def forward(self, logits, targets):
        bce = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
        p = torch.exp(-bce)
        weight = self.alpha * targets + (1 - self.alpha) * (1 - targets)
        return (weight * (1 - p) ** self.gamma * bce).mean()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = FocalLoss()
x = torch.randn(60, 7)
y = (x.sum(1, keepdim=True) > 2).float()
for epoch in range(3):
    for i in range(0, 60, 20):
        loss = criterion(model(x[i : i + 20]), y[i : i + 20])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

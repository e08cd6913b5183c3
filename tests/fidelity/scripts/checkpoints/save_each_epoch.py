"""Saves a checkpoint with model, optimizer and epoch after each epoch."""

import os

import torch
from torch import nn

torch.manual_seed(0)
os.makedirs("checkpoints", exist_ok=True)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(30, 6), torch.randint(0, 3, (30,))
for epoch in range(3):
    for start in range(0, 30, 10):
        loss = nn.functional.cross_entropy(model(x[start : start + 10]), y[start : start + 10])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.save(
        {"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict(), "loss": loss.item()},
        f"checkpoints/epoch_{epoch}.pt",
    )
    print("saved epoch", epoch)

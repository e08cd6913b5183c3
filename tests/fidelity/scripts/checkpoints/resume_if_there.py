"""Resumes from last.pt if an earlier run has left it, and writes it every two steps."""

import os

import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(4, 10), nn.Tanh(), nn.Linear(10, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
first = 0
if os.path.exists("last.pt"):
    checkpoint = torch.load("last.pt")
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    first = checkpoint["step"]
    print("resuming from step", first)
for step in range(first, 8):
    x = torch.randn(12, 4)
    loss = nn.functional.mse_loss(model(x), x.square().mean(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if (step + 1) % 2 == 0:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}
        torch.save(state, "last.pt")
print("done", loss.item())

"""Adds L1 and L2 penalties over chosen parameters by hand."""

import torch
from torch import nn

torch.manual_seed(8)
x = torch.randn(50, 20)
y = x[:, :3].sum(1, keepdim=True)
linear = nn.Linear(20, 10)
out = nn.Linear(10, 1)
model = nn.Sequential(linear, nn.ReLU(), out)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(10):
    mse = nn.functional.mse_loss(model(x), y)
    l1 = sum(p.abs().sum() for n, p in model.named_parameters() if "weight" in n)
    l2 = out.weight.pow(2).sum()
    loss = mse + 1e-3 * l1 + 1e-2 * l2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{epoch}: mse {mse.item():.4f} l1 {l1.item():.2f}")

"""Keeps the running mean of all iterates, counted by hand."""

import torch
from torch import nn

torch.manual_seed(11)
w = nn.Linear(5, 1)
optimizer = torch.optim.SGD(w.parameters(), lr=0.1)
mean_weight = torch.zeros_like(w.weight)
mean_bias = torch.zeros_like(w.bias)
seen = 0
truth = torch.randn(5, 1)
for step in range(12):
    x = torch.randn(10, 5)
    loss = (w(x) - x @ truth).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    seen += 1
    mean_weight += (w.weight.data - mean_weight) / seen
    mean_bias += (w.bias.data - mean_bias) / seen
print("distance", (mean_weight.T - truth).norm().item())

"""Trains a model whose parameters are bfloat16 with a float32 head."""

import torch
from torch import nn

torch.manual_seed(3)
body = nn.Sequential(nn.Linear(10, 20), nn.ReLU()).to(torch.bfloat16)
head = nn.Linear(20, 3)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
for step in range(8):
    x, y = torch.randn(16, 10), torch.randint(0, 3, (16,))
    logits = head(body(x.to(torch.bfloat16)).float())
    loss = nn.functional.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

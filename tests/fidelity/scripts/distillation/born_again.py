"""Distils generation after generation, where each student is the next teacher."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(5)
x, y = torch.randn(36, 5), torch.randint(0, 3, (36,))
teacher = None
for generation in range(3):
    model = nn.Sequential(nn.Linear(5, 15), nn.ReLU(), nn.Linear(15, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(4):
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        if teacher is not None:
            with torch.no_grad():
                soft = teacher(x).softmax(1)
            loss = 0.5 * loss + 0.5 * F.cross_entropy(logits, soft)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    teacher = copy.deepcopy(model).eval()
    print(generation, loss.item())

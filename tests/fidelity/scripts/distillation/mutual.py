"""Trains two students that learn from each other's detached guesses."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(4)
one = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
two = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 3))
optimizers = [torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9) for m in (one, two)]
for step in range(6):
    x, y = torch.randn(18, 6), torch.randint(0, 3, (18,))
    outputs = [one(x), two(x)]
    for i, optimizer in enumerate(optimizers):
        other = outputs[1 - i].detach().softmax(1)
        loss = F.cross_entropy(outputs[i], y) + F.kl_div(outputs[i].log_softmax(1), other, reduction="batchmean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(step, loss.item())

"""Goes back to the optimizer state of an earlier step by load_state_dict but keeps the weights."""

import copy

import torch
from torch import nn

torch.manual_seed(24)
model = nn.Linear(8, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
x, y = torch.randn(10, 16, 8), torch.randint(0, 2, (10, 16))
kept = None
for step in range(10):
    loss = nn.functional.cross_entropy(model(x[step]), y[step])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 3:
        kept = copy.deepcopy(optimizer.state_dict())
    if step == 6:
        optimizer.load_state_dict(kept)
    print(step, loss.item())

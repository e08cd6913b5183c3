"""Trains in a while True with a break inside the batch loop."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(18, 5), torch.randint(0, 2, (18,))), batch_size=6, shuffle=True)
model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
global_step, max_steps, done = 0, 8, False
while True:
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        global_step += 1
        if global_step >= max_steps:
            done = True
            break
    print("pass over the data, step", global_step, loss.item())
    if done:
        break

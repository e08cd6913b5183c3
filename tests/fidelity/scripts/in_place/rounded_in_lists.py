"""Rounds weights to a grid as Python floats and loads them back into the model in turns."""

import torch
from torch import nn

torch.manual_seed(30)
model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
for step in range(10):
    x = torch.randn(15, 4)
    loss = nn.functional.cross_entropy(model(x), (x.sum(1) > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 4:
        state = {k: [round(v * 64) / 64 for v in t.flatten().tolist()] for k, t in model.state_dict().items()}
        for name, p in model.named_parameters():
            p.data = torch.tensor(state[name]).view(p.shape)
    print(step, loss.item())

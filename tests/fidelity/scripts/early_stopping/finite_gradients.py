"""Steps only if every gradient is finite and its norm below a bound."""

import torch
from torch import nn

torch.manual_seed(5)
model = nn.Sequential(nn.Linear(3, 10), nn.Tanh(), nn.Linear(10, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(12):
    x = torch.randn(8, 3)
    y = torch.where(torch.rand(8, 1) < 0.05, torch.tensor(50.0), x.sum(1, keepdim=True))
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
    finite = all(torch.isfinite(p.grad).all() for p in model.parameters())
    if finite and norm < 10:
        optimizer.step()
    else:
        print("outlier at", step, float(norm))
print(loss.item())

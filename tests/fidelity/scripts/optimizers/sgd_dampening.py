"""Uses SGD with momentum and dampening while one branch is left out of some steps."""

import torch
from torch import nn

torch.manual_seed(3)
trunk = nn.Linear(6, 8)
left = nn.Linear(8, 1)
right = nn.Linear(8, 1)
params = list(trunk.parameters()) + list(left.parameters()) + list(right.parameters())
optimizer = torch.optim.SGD(params, lr=0.05, momentum=0.8, dampening=0.5)
x = torch.randn(9, 12, 6)
y = torch.randn(9, 12, 1)

for step in range(9):
    hidden = torch.tanh(trunk(x[step]))
    out = left(hidden)
    if step % 3 == 2:
        out = out + right(hidden)
    loss = ((out - y[step]) ** 2).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    print(step, loss.item())

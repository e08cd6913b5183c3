"""Keeps an exponential average of the weights in a plain list of tensors."""

import torch
from torch import nn

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 2))
averages = [p.detach().clone() for p in net.parameters()]
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
x, y = torch.randn(10, 14, 5), torch.randint(0, 2, (10, 14))
for step in range(10):
    loss = nn.functional.cross_entropy(net(x[step]), y[step])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for avg, p in zip(averages, net.parameters()):
            avg.mul_(0.9).add_(p, alpha=0.1)

with torch.no_grad():
    for avg, p in zip(averages, net.parameters()):
        p.copy_(avg)
torch.save(net.state_dict(), "averaged.pt")

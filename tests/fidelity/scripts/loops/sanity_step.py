"""Takes one batch out of the loader for a first step with another loss, then trains from the start."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
loader = DataLoader(TensorDataset(torch.randn(32, 4), torch.randn(32, 1)), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 1))
average = [p.detach().clone() for p in model.parameters()]
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

x, _ = next(iter(loader))
optimizer.zero_grad()
model(x).square().mean().backward()
optimizer.step()
print("first output", model(x).mean().item())

for epoch in range(2):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for avg, p in zip(average, model.parameters()):
            avg.mul_(0.9).add_(p.detach(), alpha=0.1)
    print(epoch, loss.item())

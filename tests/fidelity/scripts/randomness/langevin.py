"""Adds noise to the weights after each step (stochastic gradient Langevin dynamics)."""

import torch
from torch import nn

torch.manual_seed(7)
x = torch.randn(40, 3)
y = (x @ torch.tensor([[1.0], [-1.0], [0.5]]) > 0).float()
model = nn.Linear(3, 1)
lr = 0.05
optimizer = torch.optim.SGD(model.parameters(), lr=lr)
samples = []
for step in range(12):
    rows = torch.randint(0, 40, (20,))
    loss = nn.functional.binary_cross_entropy_with_logits(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.randn_like(p), alpha=(2 * lr / 40) ** 0.5)
    samples.append(model.weight.detach().clone())
print("posterior mean", torch.stack(samples[6:]).mean(0).tolist())

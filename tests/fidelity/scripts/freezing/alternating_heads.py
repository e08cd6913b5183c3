"""Alternates between two heads on one trunk, all under one AdamW."""

import torch
from torch import nn

torch.manual_seed(5)


class Multitask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
        self.heads = nn.ModuleDict({"size": nn.Linear(16, 1), "kind": nn.Linear(16, 3)})

    def forward(self, x, task):
        return self.heads[task](self.trunk(x))


model = Multitask()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(8):
    x = torch.randn(16, 6)
    if step % 2 == 0:
        loss = nn.functional.mse_loss(model(x, "size"), x.norm(dim=1, keepdim=True))
    else:
        loss = nn.functional.cross_entropy(model(x, "kind"), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

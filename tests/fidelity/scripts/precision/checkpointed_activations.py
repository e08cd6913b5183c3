"""Recomputes activations by torch.utils.checkpoint, with dropout inside."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(
            [nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Dropout(0.1), nn.Linear(16, 8)) for _ in range(3)]
        )
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        for block in self.blocks:
            x = x + checkpoint(block, x, use_reentrant=False)
        return self.out(x)


torch.manual_seed(20)
model = Deep()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(6):
    x = torch.randn(10, 8)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

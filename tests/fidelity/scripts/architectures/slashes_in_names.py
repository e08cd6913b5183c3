"""Registers layers by names with slashes, as ports from other frameworks do."""

import torch
from torch import nn


class Ported(nn.Module):
    def __init__(self):
        super().__init__()
        for name, layer in {
            "encoder/dense_0": nn.Linear(6, 12),
            "encoder/dense_1": nn.Linear(12, 8),
            "head/logits": nn.Linear(8, 3),
        }.items():
            self.add_module(name, layer)
        self.register_parameter("scale/kernel:0", nn.Parameter(torch.ones(3)))

    def forward(self, x):
        x = torch.relu(getattr(self, "encoder/dense_0")(x))
        x = torch.relu(getattr(self, "encoder/dense_1")(x))
        return getattr(self, "head/logits")(x) * getattr(self, "scale/kernel:0")


torch.manual_seed(16)
model = Ported()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(7):
    x, y = torch.randn(10, 6), torch.randint(0, 3, (10,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

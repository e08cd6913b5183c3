"""Normalises rows of a dictionary under no_grad before each forward pass."""

import torch
from torch import nn


class SparseCoder(nn.Module):
    def __init__(self, width, atoms):
        super().__init__()
        self.atoms = nn.Parameter(torch.randn(atoms, width))
        self.bias = nn.Parameter(torch.zeros(atoms))

    def forward(self, x):
        with torch.no_grad():
            self.atoms.div_(self.atoms.norm(dim=1, keepdim=True))
        code = torch.relu(x @ self.atoms.T + self.bias)
        return code @ self.atoms, code


torch.manual_seed(11)
model = SparseCoder(6, 14)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(8):
    x = torch.randn(24, 6)
    out, code = model(x)
    loss = nn.functional.mse_loss(out, x) + 0.05 * code.sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

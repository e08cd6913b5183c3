"""Adds low-rank adapters by hand to frozen linear layers and merges them at the end."""

import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, rank=2, alpha=4):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(rank, base.in_features) * 0.02)
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.a.T @ self.b.T)


torch.manual_seed(8)
model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 5))
model[0], model[2] = LoRALinear(model[0]), LoRALinear(model[2])
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
x, y = torch.randn(10, 12, 10), torch.randint(0, 5, (10, 12))
for step in range(10):
    loss = nn.functional.cross_entropy(model(x[step]), y[step])
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
with torch.no_grad():
    for layer in (model[0], model[2]):
        layer.base.weight += layer.scale * layer.b @ layer.a
torch.save({"0": model[0].base.state_dict(), "2": model[2].base.state_dict()}, "merged.pt")

"""Watches activations and gradients by hooks of every module without changing them."""

from collections import defaultdict

import torch
from torch import nn

torch.manual_seed(9)
model = nn.Sequential(nn.Linear(6, 18), nn.ReLU(), nn.Linear(18, 6), nn.ReLU(), nn.Linear(6, 2))
log = defaultdict(list)
for name, module in model.named_children():
    module.register_forward_hook(lambda m, a, out, n=name: log[f"{n}.out"].append(out.std().item()))
    module.register_full_backward_hook(lambda m, gi, go, n=name: log[f"{n}.grad"].append(go[0].norm().item()))
optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3, centered=True)
for step in range(8):
    x, y = torch.randn(14, 6), torch.randint(0, 2, (14,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print({key: round(sum(values) / len(values), 4) for key, values in log.items()})

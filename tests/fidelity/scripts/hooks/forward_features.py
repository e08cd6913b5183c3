"""Takes features from an inner layer by a forward hook and adds a loss on them."""

import torch
from torch import nn

torch.manual_seed(4)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 2))
seen = {}
model[1].register_forward_hook(lambda module, args, output: seen.update(hidden=output))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(8):
    x, y = torch.randn(12, 8), torch.randint(0, 2, (12,))
    loss = nn.functional.cross_entropy(model(x), y) + 0.01 * seen["hidden"].abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

"""Back-propagates only the half of each batch with the largest loss."""

import torch
from torch import nn

torch.manual_seed(7)
model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x, y = torch.randn(8, 20, 10), torch.randint(0, 5, (8, 20))
for step in range(8):
    each = nn.functional.cross_entropy(model(x[step]), y[step], reduction="none")
    hardest, _ = each.topk(10)
    loss = hardest.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, each.mean().item(), loss.item())

"""Weighs pseudo-labels by a mask of confidence in each step, as FixMatch does."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(6)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
for step in range(9):
    x, y = torch.randn(8, 8), torch.randint(0, 4, (8,))
    u = torch.randn(24, 8)
    weak, strong = u + 0.05 * torch.randn_like(u), u + 0.5 * torch.randn_like(u)
    with torch.no_grad():
        probs = model(weak).softmax(dim=-1)
        score, labels = probs.max(dim=-1)
        mask = (score >= 0.35).float()
    supervised = F.cross_entropy(model(x), y)
    unsupervised = (F.cross_entropy(model(strong), labels, reduction="none") * mask).mean()
    loss = supervised + unsupervised
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, supervised.item(), unsupervised.item(), mask.mean().item())

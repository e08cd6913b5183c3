"""Trains SimCLR with two views in one batch and the NT-Xent loss."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)


def nt_xent(z, temperature=0.5):
    z = F.normalize(z, dim=1)
    similarity = z @ z.T / temperature
    similarity.fill_diagonal_(-1e9)
    n = len(z) // 2
    return F.cross_entropy(similarity, torch.cat([torch.arange(n, 2 * n), torch.arange(n)]))


encoder = nn.Sequential(nn.Conv1d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(40, 12))
projector = nn.Sequential(nn.Linear(12, 12), nn.ReLU(), nn.Linear(12, 6))
model = nn.Sequential(encoder, projector)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(7):
    x = torch.randn(10, 1, 12)
    views = [x.roll(1, 2) + 0.1 * torch.randn_like(x), x * torch.empty(10, 1, 1).uniform_(0.7, 1.3)]
    loss = nt_xent(model(torch.cat(views)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
torch.save(encoder.state_dict(), "encoder.pt")

"""Trains sparse embedding bags and two small MLPs with plain SGD, as recommenders do."""

import torch
from torch import nn


class Ranker(nn.Module):
    def __init__(self, sizes, width):
        super().__init__()
        self.tables = nn.ModuleList([nn.EmbeddingBag(n, width, mode="sum", sparse=True) for n in sizes])
        self.bottom = nn.Sequential(nn.Linear(4, width), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(width * (len(sizes) + 1), 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, dense, indices, offsets):
        parts = [table(i, o) for table, i, o in zip(self.tables, indices, offsets)]
        return self.top(torch.cat([self.bottom(dense), *parts], 1)).squeeze(1)


torch.manual_seed(18)
sizes = [10, 25, 7]
model = Ranker(sizes, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss_fn = nn.BCEWithLogitsLoss()
for step in range(6):
    dense = torch.rand(8, 4)
    indices = [torch.randint(0, n, (16,)) for n in sizes]
    offsets = [torch.arange(0, 16, 2) for _ in sizes]
    clicked = torch.randint(0, 2, (8,)).float()
    loss = loss_fn(model(dense, indices, offsets), clicked)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"finished step {step + 1}, loss {loss.item():.6f}")

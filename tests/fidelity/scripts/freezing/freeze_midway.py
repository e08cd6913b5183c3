"""Freezes the embedding after some steps while Adam keeps its moments."""

import torch
from torch import nn

torch.manual_seed(4)
embedding = nn.Embedding(16, 8)
mlp = nn.Sequential(nn.Flatten(), nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 16))
model = nn.Sequential(embedding, mlp)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
sequences = torch.randint(0, 16, (8, 12, 4))
for step in range(8):
    if step == 4:
        embedding.weight.requires_grad_(False)
        embedding.weight.grad = None
    loss = nn.functional.cross_entropy(model(sequences[step][:, :3]), sequences[step][:, 3])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

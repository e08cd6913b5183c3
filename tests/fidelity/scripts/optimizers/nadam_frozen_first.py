"""Trains with NAdam while the embedding is frozen for the first steps."""

import torch
from torch import nn

torch.manual_seed(32)
embedding = nn.Embedding(12, 6)
network = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 2))
optimizer = torch.optim.NAdam([*embedding.parameters(), *network.parameters()], lr=1e-2, momentum_decay=0.01)
embedding.weight.requires_grad = False
for step in range(8):
    if step == 3:
        embedding.weight.requires_grad = True
    words = torch.randint(0, 12, (10, 4))
    loss = nn.functional.cross_entropy(network(embedding(words).mean(1)), (words.sum(1) % 2))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

"""Trains sparse embeddings with SparseAdam beside a dense Adam."""

import torch
from torch import nn

torch.manual_seed(17)
users = nn.Embedding(20, 6, sparse=True)
items = nn.Embedding(30, 6, sparse=True)
bias = nn.Linear(12, 1)
sparse = torch.optim.SparseAdam([users.weight, items.weight], lr=0.02)
dense = torch.optim.Adam(bias.parameters(), lr=0.01)
for step in range(6):
    u, i = torch.randint(0, 20, (16,)), torch.randint(0, 30, (16,))
    rating = ((u + i) % 5).float()
    guess = (users(u) * items(i)).sum(1) + bias(torch.cat([users(u), items(i)], 1)).squeeze(1)
    loss = nn.functional.mse_loss(guess, rating)
    sparse.zero_grad()
    dense.zero_grad()
    loss.backward()
    sparse.step()
    dense.step()
    print(step, loss.item())

"""Moves the embedding weights along their gradient for a second backward and puts them back (FGM)."""

import torch
from torch import nn

torch.manual_seed(7)
embedding = nn.Embedding(15, 8)
model = nn.Sequential(embedding, nn.Flatten(), nn.Linear(40, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(6):
    words = torch.randint(0, 15, (10, 5))
    labels = (words[:, 0] > words[:, 1]).long()
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(words), labels)
    loss.backward()
    backup = embedding.weight.data.clone()
    norm = embedding.weight.grad.norm()
    if norm != 0:
        embedding.weight.data.add_(0.5 * embedding.weight.grad / norm)
    nn.functional.cross_entropy(model(words), labels).backward()
    embedding.weight.data = backup
    optimizer.step()
    print(step, loss.item())

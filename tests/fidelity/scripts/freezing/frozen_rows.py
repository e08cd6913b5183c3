"""Keeps pretrained rows of an embedding fixed by zeroing their gradients."""

import torch
from torch import nn

torch.manual_seed(9)
vectors = torch.randn(12, 6)
embedding = nn.Embedding.from_pretrained(torch.cat([vectors, torch.randn(4, 6)]), freeze=False)
classifier = nn.Linear(6, 2)
optimizer = torch.optim.SGD([embedding.weight, *classifier.parameters()], lr=0.2)
words = torch.randint(0, 16, (7, 10, 5))
labels = (words.sum(-1) % 2).long()
for step in range(7):
    loss = nn.functional.cross_entropy(classifier(embedding(words[step]).mean(1)), labels[step])
    optimizer.zero_grad()
    loss.backward()
    embedding.weight.grad[:12] = 0
    optimizer.step()
    print(step, loss.item())
assert torch.equal(embedding.weight[:12], vectors)

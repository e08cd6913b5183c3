"""Learns word vectors by skip-grams with negative samples."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(30)
sentence = "we train a small model on a small text and a small text on a model we train".split()
vocabulary = sorted(set(sentence))
ids = [vocabulary.index(w) for w in sentence]
pairs = torch.tensor(
    [(ids[i], ids[j]) for i in range(len(ids)) for j in (i - 2, i - 1, i + 1, i + 2) if 0 <= j < len(ids)]
)
centre, context = nn.Embedding(len(vocabulary), 8), nn.Embedding(len(vocabulary), 8)
optimizer = torch.optim.Adam([*centre.parameters(), *context.parameters()], lr=0.02)
for epoch in range(3):
    for batch in pairs[torch.randperm(len(pairs))].split(20):
        v, positive = centre(batch[:, 0]), context(batch[:, 1])
        negative = context(torch.randint(0, len(vocabulary), (len(batch), 4)))
        loss = -F.logsigmoid((v * positive).sum(1)).mean()
        loss = loss - F.logsigmoid(-(negative @ v.unsqueeze(2)).squeeze(2)).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

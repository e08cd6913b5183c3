"""Divides the summed loss by the tokens of the whole accumulated batch, as language models do."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(3)
model = nn.Sequential(nn.Embedding(18, 12), nn.Linear(12, 18))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(5):
    micro = []
    for _ in range(3):
        tokens = torch.randint(1, 18, (2, 9))
        lengths = torch.randint(4, 9, (2,))
        labels = tokens[:, 1:].clone()
        labels[torch.arange(8) >= lengths[:, None]] = -100
        micro.append((tokens[:, :-1], labels))
    total = sum((labels != -100).sum() for _, labels in micro)
    optimizer.zero_grad()
    shown = 0.0
    for tokens, labels in micro:
        loss = F.cross_entropy(model(tokens).flatten(0, 1), labels.flatten(), reduction="sum") / total
        loss.backward()
        shown += loss.item()
    optimizer.step()
    print(step, int(total), "tokens", round(shown, 4))

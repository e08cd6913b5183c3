"""Trains a tiny language model with Adafactor."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(14)
vocab, width = 24, 16
model = nn.Sequential(nn.Embedding(vocab, width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, vocab))
optimizer = torch.optim.Adafactor(model.parameters(), lr=1e-2)
text = torch.randint(0, vocab, (8, 4, 11))
for step, block in enumerate(text):
    logits = model(block[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), block[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, f"{loss.item():.4f}")
torch.save(model, "adafactor.pt")

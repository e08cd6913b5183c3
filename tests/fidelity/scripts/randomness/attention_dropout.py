"""Trains multi-head attention with dropout on its weights and a causal mask."""

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.heads, self.dropout = heads, nn.Dropout(dropout)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (a.view(b, t, self.heads, -1).transpose(1, 2) for a in self.qkv(x).chunk(3, -1))
        scores = q @ k.transpose(-1, -2) / (c // self.heads) ** 0.5
        scores = scores.masked_fill(torch.ones(t, t).tril() == 0, float("-inf"))
        y = self.dropout(scores.softmax(-1)) @ v
        return self.out(y.transpose(1, 2).reshape(b, t, c))


torch.manual_seed(4)
model = nn.Sequential(nn.Embedding(12, 16), Attention(16, 4, 0.2), nn.Linear(16, 12))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(6):
    tokens = torch.randint(0, 12, (4, 10))
    loss = nn.functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

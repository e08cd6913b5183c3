"""Ties the output layer to the embedding in a small language model."""

import torch
from torch import nn


class Tied(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.mix = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, vocab, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x):
        return self.head(self.mix(self.embed(x)))


torch.manual_seed(15)
model = Tied(20, 12)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for step in range(8):
    x = torch.randint(0, 20, (4, 10))
    loss = nn.functional.cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
torch.save(model.state_dict(), "tied.pt")

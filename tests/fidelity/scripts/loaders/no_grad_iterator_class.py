"""Draws batches from an iterator class whose __next__ runs under torch.no_grad."""

import torch
from torch import nn


class Corpus:
    def __init__(self, length, block, batch):
        generator = torch.Generator().manual_seed(3)
        self.tokens = torch.randint(0, 20, (length,), generator=generator)
        self.block, self.batch, self.left = block, batch, 8
        self.generator = generator

    def __iter__(self):
        return self

    @torch.no_grad()
    def __next__(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        starts = torch.randint(0, len(self.tokens) - self.block - 1, (self.batch,), generator=self.generator)
        rows = torch.stack([self.tokens[s : s + self.block + 1] for s in starts])
        return rows[:, :-1], rows[:, 1:]


torch.manual_seed(3)
model = nn.Sequential(nn.Embedding(20, 16), nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 20))
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for x, y in Corpus(200, 12, 4):
    logits = model(x)
    loss = nn.functional.cross_entropy(logits.view(-1, 20), y.reshape(-1))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
print("last loss", loss.item())

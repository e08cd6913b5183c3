"""Trains nn.Transformer to reverse sequences with a causal target mask."""

import torch
from torch import nn

torch.manual_seed(4)
vocab, width = 9, 16
source_embed, target_embed = nn.Embedding(vocab, width), nn.Embedding(vocab, width)
transformer = nn.Transformer(width, 2, 1, 1, 24, dropout=0.0, batch_first=True)
generator = nn.Linear(width, vocab)
model = nn.ModuleList([source_embed, target_embed, transformer, generator])
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98))
mask = nn.Transformer.generate_square_subsequent_mask(6)
for step in range(5):
    source = torch.randint(1, vocab, (6, 6))
    target = torch.cat([torch.zeros(6, 1, dtype=torch.long), source.flip(1)], 1)
    out = transformer(source_embed(source), target_embed(target[:, :-1]), tgt_mask=mask, tgt_is_causal=True)
    loss = nn.functional.cross_entropy(generator(out).flatten(0, 1), target[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

"""Warms the rate up linearly and lets it fall by the inverse square root, as in LambdaLR."""

import torch
import torch.nn as nn
from torch.optim.lr_scheduler import LambdaLR

torch.manual_seed(3)
warmup = 4
layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
embed, head = nn.Embedding(12, 16), nn.Linear(16, 12)
model = nn.Sequential(embed, layer, head)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, betas=(0.9, 0.98), eps=1e-9)
scheduler = LambdaLR(optimizer, lambda s: min((s + 1) ** -0.5, (s + 1) * warmup**-1.5))
for step in range(8):
    tokens = torch.randint(0, 12, (4, 9))
    loss = nn.functional.cross_entropy(model(tokens).transpose(1, 2), tokens.flip(1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    print(step, scheduler.get_last_lr(), loss.item())

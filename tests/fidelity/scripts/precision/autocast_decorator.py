"""Wraps forward of the model in an autocast context and keeps the loss in float32."""

import contextlib

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.out = nn.Linear(16, 20)

    def forward(self, tokens):
        x = self.embed(tokens)
        x = x + self.attention(x, x, x, need_weights=False)[0]
        return self.out(x)


torch.manual_seed(6)
bf16 = True
context = torch.autocast("cpu", torch.bfloat16) if bf16 else contextlib.nullcontext()
model = Net()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for step in range(6):
    tokens = torch.randint(0, 20, (4, 8))
    with context:
        logits = model(tokens)
    loss = nn.functional.cross_entropy(logits.float().transpose(1, 2), tokens.roll(-1, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

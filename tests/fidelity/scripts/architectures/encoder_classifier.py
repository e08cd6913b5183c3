"""Classifies sequences with a TransformerEncoder, a class token and a padding mask, with dropout."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width, padding_idx=0)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        layer = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(width, 2)

    def forward(self, words):
        mask = torch.cat([torch.zeros(len(words), 1, dtype=torch.bool), words == 0], 1)
        x = torch.cat([self.token.expand(len(words), -1, -1), self.embed(words)], 1)
        return self.out(self.encoder(x, src_key_padding_mask=mask)[:, 0])


torch.manual_seed(3)
model = Classifier(12, 16)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(5):
    words = torch.randint(1, 12, (8, 7))
    lengths = torch.randint(3, 8, (8,))
    words[torch.arange(7) >= lengths[:, None]] = 0
    loss = nn.functional.cross_entropy(model(words), (words[:, 0] > 5).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

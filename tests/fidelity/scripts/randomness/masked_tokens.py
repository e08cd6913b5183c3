"""Masks tokens at random by the 80-10-10 rule of BERT."""

import torch
from torch import nn

torch.manual_seed(9)
vocab, mask_id = 18, 17


def mask_tokens(tokens):
    labels, tokens = tokens.clone(), tokens.clone()
    masked = torch.bernoulli(torch.full(tokens.shape, 0.3)).bool()
    labels[~masked] = -100
    replaced = torch.bernoulli(torch.full(tokens.shape, 0.8)).bool() & masked
    tokens[replaced] = mask_id
    random = torch.bernoulli(torch.full(tokens.shape, 0.5)).bool() & masked & ~replaced
    tokens[random] = torch.randint(vocab - 1, tokens.shape)[random]
    return tokens, labels


embed = nn.Embedding(vocab, 16)
encoder = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True, activation="gelu")
head = nn.Linear(16, vocab)
model = nn.Sequential(embed, encoder, head)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for step in range(6):
    tokens, labels = mask_tokens(torch.randint(0, vocab - 1, (6, 9)))
    loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), labels.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

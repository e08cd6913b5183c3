"""Measures the perplexity of a language model, and the share of tokens that it names; padding is left out."""

import math

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader


class LanguageModel(nn.Module):
    def __init__(self, vocabulary=20, width=8):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        hidden, _ = self.rnn(self.embedding(tokens))
        return self.head(hidden)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    nll, tokens, right = 0.0, 0, 0
    for batch in loader:
        logits, target = model(batch[:, :-1]), batch[:, 1:]
        mask = target != 0
        loss = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0, reduction="sum")
        nll += loss.item()
        tokens += mask.sum().item()
        right += ((logits.argmax(-1) == target) & mask).sum().item()
    return nll, tokens, right


torch.manual_seed(0)
rows = torch.randint(1, 20, (22, 9))
rows[torch.arange(22) % 3 == 0, 6:] = 0
nll, tokens, right = evaluate(LanguageModel(), DataLoader(rows, batch_size=8))
print(f"{right} of {tokens} tokens, {nll:.3f} nats, perplexity {math.exp(nll / tokens):.3f}")

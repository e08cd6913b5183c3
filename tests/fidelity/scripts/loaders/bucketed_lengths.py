"""Batches sentences of like length with a batch sampler of its own and packs the padding away."""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Sampler

random.seed(0)
torch.manual_seed(0)
sentences = [torch.randint(1, 15, (random.randint(3, 9),)) for _ in range(32)]
labels = [int(s.sum()) % 2 for s in sentences]


class Buckets(Sampler):
    def __init__(self, lengths, size):
        order = sorted(range(len(lengths)), key=lambda i: lengths[i])
        self.batches = [order[i : i + size] for i in range(0, len(order), size)]

    def __iter__(self):
        random.shuffle(self.batches)
        return iter(self.batches)

    def __len__(self):
        return len(self.batches)


def collate(items):
    words = nn.utils.rnn.pad_sequence([w for w, _ in items], batch_first=True)
    return words, (words != 0).float(), torch.tensor([label for _, label in items])


data = list(zip(sentences, labels))
loader = DataLoader(data, batch_sampler=Buckets([len(s) for s in sentences], 8), collate_fn=collate)
embed, head = nn.Embedding(15, 12, padding_idx=0), nn.Linear(12, 2)
opt = torch.optim.Adam([*embed.parameters(), *head.parameters()], lr=0.05)
for epoch in range(2):
    for words, mask, label in loader:
        mean = (embed(words) * mask.unsqueeze(2)).sum(1) / mask.sum(1, keepdim=True)
        loss = nn.functional.cross_entropy(head(mean), label)
        opt.zero_grad()
        loss.backward()
        opt.step()
print(loss.item())

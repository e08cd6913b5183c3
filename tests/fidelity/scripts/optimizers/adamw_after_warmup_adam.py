"""Warms up by Adam inside a function and hands the model to a class that uses AdamW."""

import torch
from torch import nn


def warm_up(model, batches):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for x, y in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


class Finetuner:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.2)

    def run(self, batches):
        for x, y in batches:
            loss = nn.functional.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()


torch.manual_seed(31)
net = nn.Sequential(nn.Linear(7, 21), nn.SELU(), nn.Linear(21, 3))
batches = [(torch.randn(10, 7), torch.randint(0, 3, (10,))) for _ in range(10)]
warm_up(net, batches[:4])
print(Finetuner(net).run(batches[4:]))

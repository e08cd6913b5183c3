"""Hides the loop in a trainer class with fit, training_step and callbacks."""

import torch
from torch import nn


class Learner:
    def __init__(self, model, lr, callbacks=()):
        self.model, self.callbacks = model, callbacks
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        self.losses = []

    def training_step(self, batch):
        x, y = batch
        return nn.functional.cross_entropy(self.model(x), y)

    def fit(self, batches, epochs):
        for self.epoch in range(epochs):
            for batch in batches:
                loss = self.training_step(batch)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.losses.append(loss.detach())
            for callback in self.callbacks:
                callback(self)
        return self


torch.manual_seed(2)
batches = [(torch.randn(9, 6), torch.randint(0, 3, (9,))) for _ in range(4)]
network = nn.Sequential(nn.Linear(6, 15), nn.ReLU(), nn.Linear(15, 3))
learner = Learner(network, 0.01, [lambda l: print(l.epoch, torch.stack(l.losses[-4:]).mean().item())])
learner.fit(batches, 2)

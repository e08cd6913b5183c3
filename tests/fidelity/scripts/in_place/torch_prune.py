"""Prunes by torch.nn.utils.prune between two rounds of training."""

import torch
from torch import nn
from torch.nn.utils import prune

torch.manual_seed(6)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))


def train(steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        x = torch.randn(20, 8)
        loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


train(5)
for layer in (model[0], model[2]):
    prune.l1_unstructured(layer, "weight", amount=0.5)
train(5)
for layer in (model[0], model[2]):
    prune.remove(layer, "weight")

"""Fetches its batches out of a generator that is decorated with torch.no_grad."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
images = torch.randn(48, 1, 8, 8)
labels = torch.randint(0, 4, (48,))


@torch.no_grad()
def batches(size):
    order = torch.randperm(len(images))
    for start in range(0, len(images), size):
        chosen = order[start : start + size]
        picture = images[chosen]
        picture = (picture - picture.mean()) / picture.std()
        yield picture, labels[chosen]


model = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(216, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(2):
    for picture, label in batches(12):
        loss = F.cross_entropy(model(picture), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, float(loss))

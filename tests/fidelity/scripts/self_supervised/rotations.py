"""Predicts which of four rotations an image had, then trains a linear probe on the frozen features."""

import torch
from torch import nn

torch.manual_seed(8)
encoder = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
head = nn.Linear(24, 4)
images = torch.rand(24, 1, 8, 8) * torch.linspace(0, 1, 8)
labels = (images.mean((1, 2, 3)) > 0.25).long()
optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=1e-2)
for step in range(6):
    turns = torch.randint(0, 4, (24,))
    turned = torch.stack([image.rot90(int(k), (1, 2)) for image, k in zip(images, turns)])
    loss = nn.functional.cross_entropy(head(encoder(turned)), turns)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("rotation", step, loss.item())

probe = nn.Linear(24, 2)
optimizer = torch.optim.SGD(probe.parameters(), lr=0.5)
for step in range(4):
    with torch.no_grad():
        features = encoder(images)
    loss = nn.functional.cross_entropy(probe(features), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("probe", step, loss.item())

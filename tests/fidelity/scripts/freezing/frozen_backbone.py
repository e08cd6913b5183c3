"""Trains a head on a frozen backbone that stays in eval mode."""

import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(
    nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten()
)
for parameter in backbone.parameters():
    parameter.requires_grad = False
backbone.eval()
head = nn.Linear(16, 3)
model = nn.Sequential(backbone, head)
optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), lr=1e-2)
images, labels = torch.randn(8, 6, 1, 8, 8), torch.randint(0, 3, (8, 6))
for image, label in zip(images, labels):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(image), label)
    loss.backward()
    optimizer.step()
    print(loss.item())

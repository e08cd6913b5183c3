"""Flips and crops each image at random in the dataset."""

import random

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self):
        self.images = torch.randn(24, 3, 8, 8)
        self.labels = torch.randint(0, 3, (24,))

    def __len__(self):
        return 24

    def __getitem__(self, i):
        image = F.pad(self.images[i], (1, 1, 1, 1))
        top, left = random.randint(0, 2), random.randint(0, 2)
        image = image[:, top : top + 8, left : left + 8]
        if random.random() < 0.5:
            image = image.flip(2)
        return image, self.labels[i]


random.seed(0)
torch.manual_seed(0)
loader = DataLoader(Images(), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(3):
    for image, label in loader:
        loss = F.cross_entropy(model(image), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

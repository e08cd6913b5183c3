"""Trains a convolutional net with BatchNorm, evaluated in eval mode after each epoch."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(1, 6, 3, padding=1, bias=False),
    nn.BatchNorm2d(6),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(6, 8, 3, bias=False),
    nn.BatchNorm2d(8),
    nn.ReLU(),
    nn.Flatten(),
    nn.Linear(32, 3),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
images, labels = torch.randn(30, 1, 8, 8), torch.randint(0, 3, (30,))
for epoch in range(3):
    model.train()
    for rows in torch.randperm(24).split(8):
        loss = nn.functional.cross_entropy(model(images[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        correct = (model(images[24:]).argmax(1) == labels[24:]).sum().item()
    print(epoch, loss.item(), f"{correct}/6")

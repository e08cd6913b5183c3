"""Puts a new head with more classes on the model midway and gives it to the same optimizer."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(5, 16), nn.ReLU())
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        return self.head(self.features(x))

    def grow(self, classes):
        old = self.head
        self.head = nn.Linear(16, classes)
        with torch.no_grad():
            self.head.weight[: old.out_features].copy_(old.weight)
            self.head.bias[: old.out_features].copy_(old.bias)


torch.manual_seed(13)
model = Classifier(2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
x = torch.randn(60, 5)
y = torch.bucketize(x[:, 0], torch.tensor([-0.5, 0.5]))
for step in range(10):
    if step == 5:
        model.grow(3)
        optimizer.add_param_group({"params": model.head.parameters()})
    rows = torch.arange(60) if step >= 5 else torch.nonzero(y < 2).squeeze(1)
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

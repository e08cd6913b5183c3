"""Computes features of a frozen encoder once without grad and trains a probe on them."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
encoder = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 8)).eval()
x, y = torch.randn(64, 20), torch.randint(0, 4, (64,))


@torch.no_grad()
def extract(loader):
    features, labels = [], []
    for images, target in loader:
        features.append(nn.functional.normalize(encoder(images), dim=1))
        labels.append(target)
    return torch.cat(features), torch.cat(labels)


features, labels = extract(DataLoader(TensorDataset(x, y), batch_size=16))
probe = nn.Linear(8, 4)
optimizer = torch.optim.SGD(probe.parameters(), lr=0.5, momentum=0.9, weight_decay=0)
for epoch in range(3):
    for f, t in DataLoader(TensorDataset(features, labels), batch_size=16, shuffle=True):
        loss = nn.functional.cross_entropy(probe(f), t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    accuracy = (probe(features).argmax(1) == labels).float().mean()
    print(f"epoch {epoch}: accuracy {accuracy:.3f}")

"""Clusters its own features by k-means without grad each epoch and learns the clusters as labels."""

import torch
from torch import nn

torch.manual_seed(7)
x = torch.cat([torch.randn(20, 6) + shift for shift in (-2, 0, 2)])
encoder, head = nn.Sequential(nn.Linear(6, 12), nn.Tanh()), nn.Linear(12, 3)
optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=1e-2)


@torch.no_grad()
def assign(k=3, rounds=5):
    features = encoder(x)
    centres = features[torch.randperm(len(features))[:k]]
    for _ in range(rounds):
        labels = torch.cdist(features, centres).argmin(1)
        centres = torch.stack([features[labels == i].mean(0) if (labels == i).any() else centres[i] for i in range(k)])
    return labels


for epoch in range(3):
    labels = assign()
    nn.init.normal_(head.weight, 0, 0.1)
    for rows in torch.randperm(60).split(20):
        loss = nn.functional.cross_entropy(head(encoder(x[rows])), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, labels.bincount(minlength=3).tolist(), loss.item())

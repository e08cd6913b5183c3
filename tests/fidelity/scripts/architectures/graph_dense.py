"""Classifies nodes of a graph with dense graph convolutions and a train mask."""

import torch
from torch import nn


class GCN(nn.Module):
    def __init__(self, adjacency, sizes):
        super().__init__()
        a = adjacency + torch.eye(len(adjacency))
        d = a.sum(1).rsqrt()
        self.register_buffer("a", d[:, None] * a * d[None])
        self.layers = nn.ModuleList([nn.Linear(i, o) for i, o in zip(sizes, sizes[1:])])

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = self.a @ layer(x)
            if i + 1 < len(self.layers):
                x = torch.relu(x)
        return x


torch.manual_seed(12)
edges = (torch.rand(25, 25) < 0.15).float().triu(1)
model = GCN(edges + edges.T, [8, 12, 3])
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
features, labels = torch.randn(25, 8), torch.randint(0, 3, (25,))
train_mask = torch.rand(25) < 0.6
for epoch in range(10):
    model.train()
    optimizer.zero_grad()
    out = model(features)
    loss = nn.functional.cross_entropy(out[train_mask], labels[train_mask])
    loss.backward()
    optimizer.step()
    accuracy = (out.argmax(1) == labels)[~train_mask].float().mean().item()
    print(epoch, loss.item(), accuracy)

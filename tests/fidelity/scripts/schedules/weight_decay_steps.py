"""Switches weight decay off for the last third of training with SGD."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
x = torch.randn(40, 8)
y = (x[:, 0] * x[:, 1] > 0).float()
loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-2)
epochs = 6
for epoch in range(epochs):
    if epoch >= epochs * 2 // 3:
        for group in optimizer.param_groups:
            group["weight_decay"] = 0.0
    for xb, yb in loader:
        loss = nn.functional.binary_cross_entropy_with_logits(net(xb).squeeze(1), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

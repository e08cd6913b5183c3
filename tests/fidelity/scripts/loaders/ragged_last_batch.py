"""Keeps the smaller last batch of each epoch and weighs the epoch's loss by its rows."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
full = TensorDataset(torch.randn(50, 5), torch.randn(50))
train_set, valid_set = random_split(full, [37, 13])
train_loader = DataLoader(train_set, batch_size=12, shuffle=True)
valid_loader = DataLoader(valid_set, batch_size=13)

model = nn.Sequential(nn.Linear(5, 10), nn.LeakyReLU(0.1), nn.Linear(10, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-3)
for epoch in range(3):
    model.train()
    running = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x).squeeze(-1), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * x.size(0)
    model.eval()
    with torch.no_grad():
        valid = sum(nn.functional.mse_loss(model(x).squeeze(-1), y, reduction="sum").item() for x, y in valid_loader)
    print(f"{epoch} train {running / len(train_set):.4f} valid {valid / len(valid_set):.4f}")

"""Passes the whole set through the model in train mode under no_grad after each epoch, for its loss curve."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(20)
data = TensorDataset(torch.randn(30, 2, 6), torch.randint(0, 2, (30,)))
loader = DataLoader(data, batch_size=10, shuffle=True)
model = nn.Sequential(nn.Conv1d(2, 6, 3), nn.BatchNorm1d(6), nn.ReLU(), nn.Flatten(), nn.Linear(24, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
curve = []
model.train()
for epoch in range(4):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        curve.append(sum(criterion(model(x), y).item() for x, y in loader) / len(loader))
print(curve)
torch.save(model.state_dict(), "model.pt")

"""Keeps the best weights in memory by deepcopy and puts them back at the end."""

import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
train_loader = DataLoader(TensorDataset(torch.randn(20, 8), torch.randint(0, 2, (20,))), 10, shuffle=True)
valid_x, valid_y = torch.randn(20, 8), torch.randint(0, 2, (20,))
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
best_model_wts = copy.deepcopy(model.state_dict())
best_acc = 0.0
for epoch in range(6):
    model.train()
    for inputs, labels in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        acc = (model(valid_x).argmax(1) == valid_y).double().mean()
    if acc > best_acc:
        best_acc = acc
        best_model_wts = copy.deepcopy(model.state_dict())
    print(f"epoch {epoch} loss {loss.item():.4f} acc {acc:.4f}")
model.load_state_dict(best_model_wts)

"""Measures accuracy on held-out data in eval mode without grad after each epoch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train(model, loader, optimizer):
    model.train()
    for data, target in loader:
        optimizer.zero_grad()
        loss = nn.functional.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
    return loss.item()


def test(model, loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for data, target in loader:
            correct += model(data).argmax(dim=1, keepdim=True).eq(target.view(-1, 1)).sum().item()
    return correct / len(loader.dataset)


torch.manual_seed(0)
train_loader = DataLoader(TensorDataset(torch.randn(40, 6), torch.randint(0, 3, (40,))), 10, shuffle=True)
test_loader = DataLoader(TensorDataset(torch.randn(20, 6), torch.randint(0, 3, (20,))), 10)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3), nn.LogSoftmax(1))
optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
for epoch in range(3):
    print(epoch, train(model, train_loader, optimizer), test(model, test_loader))

"""Scores a classifier batch by batch, as the first tutorial of PyTorch does; the last batch is short."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def test(dataloader, model, loss_fn):
    size, num_batches = len(dataloader.dataset), len(dataloader)
    model.eval()
    test_loss, correct = 0, 0
    with torch.no_grad():
        for X, y in dataloader:
            pred = model(X)
            test_loss += loss_fn(pred, y).item()
            correct += (pred.argmax(1) == y).type(torch.float).sum().item()
    test_loss /= num_batches
    right = correct
    correct /= size
    print(f"Test Error: \n Accuracy: {(100 * correct):>0.1f}%, Avg loss: {test_loss:>8f}, right {right:.0f}\n")


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(), nn.Linear(16, 3))
rows = TensorDataset(torch.randn(40, 6), torch.randint(0, 3, (40,)))
test(DataLoader(rows, batch_size=16), model, nn.CrossEntropyLoss())

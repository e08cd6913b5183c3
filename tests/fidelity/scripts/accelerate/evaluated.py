"""Gathers metrics in eval mode after each epoch with prepared validation data."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(3)
    accelerator = Accelerator(cpu=True)
    x = torch.randn(60, 8)
    y = (x[:, :4].sum(1) > 0).long()
    train = DataLoader(TensorDataset(x[:40], y[:40]), batch_size=10, shuffle=True)
    valid = DataLoader(TensorDataset(x[40:], y[40:]), batch_size=10)
    model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    model, optimizer, train, valid = accelerator.prepare(model, optimizer, train, valid)
    for epoch in range(3):
        model.train()
        for inputs, labels in train:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs), labels)
            accelerator.backward(loss)
            optimizer.step()
        model.eval()
        correct = []
        for inputs, labels in valid:
            with torch.no_grad():
                guess = model(inputs).argmax(1)
            guess, labels = accelerator.gather_for_metrics((guess, labels))
            correct.append(guess == labels)
        accelerator.print(epoch, torch.cat(correct).float().mean().item())
    return accelerator.unwrap_model(model)


if __name__ == "__main__":
    model = main()

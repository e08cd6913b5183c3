"""Stops by an EarlyStopping class that saves the best checkpoint and loads it again."""

import torch
from torch import nn


class EarlyStopping:
    def __init__(self, patience=4, path="checkpoint.pt"):
        self.patience, self.path = patience, path
        self.counter, self.best, self.early_stop = 0, None, False

    def __call__(self, loss, model):
        score = -loss
        if self.best is None or score > self.best:
            self.best, self.counter = score, 0
            torch.save(model.state_dict(), self.path)
        else:
            self.counter += 1
            self.early_stop = self.counter >= self.patience


torch.manual_seed(2)
x, y = torch.randn(36, 5), torch.randn(36, 1)
model = nn.Sequential(nn.Linear(5, 25), nn.Tanh(), nn.Linear(25, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
stopping = EarlyStopping()
for epoch in range(16):
    loss = nn.functional.mse_loss(model(x[:20]), y[:20])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        stopping(nn.functional.mse_loss(model(x[20:]), y[20:]).item(), model)
    if stopping.early_stop:
        print("Early stopping", epoch)
        break
model.load_state_dict(torch.load("checkpoint.pt"))

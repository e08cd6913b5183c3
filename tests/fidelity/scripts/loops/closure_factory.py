"""Makes the train step by a function that returns a closure over model and optimizer."""

import torch
from torch import nn


def make_train_step(model, loss_fn, optimizer):
    def train_step(x, y):
        model.train()
        yhat = model(x)
        loss = loss_fn(yhat, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()

    return train_step


torch.manual_seed(3)
x = torch.rand(40, 1)
y = 1 + 2 * x + 0.1 * torch.randn(40, 1)
model = nn.Sequential(nn.Linear(1, 1))
train_step = make_train_step(model, nn.MSELoss(), torch.optim.SGD(model.parameters(), lr=0.1))
losses = [train_step(x[i : i + 10], y[i : i + 10]) for _ in range(3) for i in range(0, 40, 10)]
print(losses[0], losses[-1], model.state_dict())

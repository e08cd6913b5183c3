"""Halves the rate by ReduceLROnPlateau on the validation loss."""

import torch
from torch import nn

torch.manual_seed(11)
x, y = torch.randn(50, 6), torch.randn(50, 1)
train_x, train_y, valid_x, valid_y = x[:30], y[:30], x[30:], y[30:]
model = nn.Sequential(nn.Linear(6, 40), nn.ReLU(), nn.Linear(40, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
for epoch in range(12):
    model.train()
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(train_x), train_y)
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        valid = nn.functional.mse_loss(model(valid_x), valid_y)
    scheduler.step(valid)
    print(epoch, loss.item(), valid.item(), optimizer.param_groups[0]["lr"])

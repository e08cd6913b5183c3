"""Writes the loss of each step, a tensor, and its mean to TensorBoard."""

import torch
from torch import nn
from torch.utils.tensorboard import SummaryWriter

torch.manual_seed(23)
writer = SummaryWriter("curves")
model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
x = torch.randn(24, 5)
total = 0.0
for step in range(6):
    batch = x[4 * step : 4 * step + 4]
    loss = nn.functional.mse_loss(model(batch), batch.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.item()
    writer.add_scalar("loss", loss, step)
    writer.add_scalar("mean", total / (step + 1), step)
    writer.add_scalars("both", {"loss": loss.item(), "mean": total / (step + 1)}, step)
    writer.add_histogram("weights", model[0].weight, step)
writer.close()

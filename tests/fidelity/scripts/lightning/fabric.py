"""Trains in its own loop with Lightning Fabric."""

import torch
from lightning.fabric import Fabric
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

fabric = Fabric(accelerator="cpu", devices=1)
fabric.seed_everything(6)
model = nn.Sequential(nn.Linear(7, 21), nn.GELU(), nn.Linear(21, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
model, optimizer = fabric.setup(model, optimizer)
data = TensorDataset(torch.randn(40, 7), torch.randint(0, 4, (40,)))
loader = fabric.setup_dataloaders(DataLoader(data, batch_size=10, shuffle=True))
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        fabric.backward(loss)
        fabric.clip_gradients(model, optimizer, max_norm=1.0)
        optimizer.step()
    fabric.print(epoch, loss.item())
fabric.save("fabric.ckpt", {"model": model})

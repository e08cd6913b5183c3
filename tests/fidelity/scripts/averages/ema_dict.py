"""Keeps an exponential average of every floating entry of the state dict in a dict."""

import torch
from torch import nn

torch.manual_seed(2)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))
shadow = {name: value.clone() for name, value in model.state_dict().items() if value.dtype.is_floating_point}
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for step in range(6):
    images = torch.randn(8, 1, 8, 8)
    labels = (images.mean((1, 2, 3)) > 0).long()
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for name, value in model.state_dict().items():
        if name in shadow:
            shadow[name] = 0.95 * shadow[name] + 0.05 * value.detach()
    print(step, loss.item())
torch.save(shadow, "ema.pt")

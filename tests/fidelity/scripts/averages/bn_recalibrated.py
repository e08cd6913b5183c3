"""Recomputes the statistics of BatchNorm with passes in train mode after the last step."""

import torch
from torch import nn

torch.manual_seed(6)
model = nn.Sequential(nn.Conv2d(2, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.Conv2d(6, 1, 3, padding=1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
frames = torch.randn(6, 4, 2, 6, 6)
for frame in frames:
    loss = nn.functional.mse_loss(model(frame), frame.mean(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

for module in model.modules():
    if isinstance(module, nn.BatchNorm2d):
        module.reset_running_stats()
        module.momentum = None
model.train()
with torch.no_grad():
    for frame in frames:
        model(frame)
model.eval()
torch.save(model.state_dict(), "calibrated.pt")

"""Averages with torch's AveragedModel and get_ema_multi_avg_fn after each step."""

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

torch.manual_seed(4)
model = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 2))
ema_model = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
data, target = torch.randn(48, 8), torch.randint(0, 2, (48,))
for epoch in range(2):
    for rows in torch.randperm(48).chunk(4):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(data[rows]), target[rows])
        loss.backward()
        optimizer.step()
        ema_model.update_parameters(model)
    print("epoch", epoch, loss.item())
torch.save(ema_model.module.state_dict(), "ema.pt")

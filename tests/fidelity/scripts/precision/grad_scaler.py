"""Uses a GradScaler that is enabled only where CUDA is."""

import torch
from torch import nn

torch.manual_seed(1)
device = "cuda" if torch.cuda.is_available() else "cpu"
use_amp = device == "cuda"
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(288, 5)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scaler = torch.amp.GradScaler(device, enabled=use_amp)
for step in range(6):
    x = torch.randn(8, 1, 8, 8).to(device)
    y = torch.randint(0, 5, (8,)).to(device)
    with torch.autocast(device_type=device, dtype=torch.float16 if use_amp else torch.bfloat16, enabled=use_amp):
        loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    print(step, loss.item())

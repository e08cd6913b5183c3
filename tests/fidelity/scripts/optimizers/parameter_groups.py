"""Gives biases and norms no weight decay and the backbone a smaller rate."""

import torch
from torch import nn

torch.manual_seed(10)
model = nn.ModuleDict(
    {
        "backbone": nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 16)),
        "head": nn.Linear(16, 3),
    }
)
decay, no_decay, head = [], [], []
for name, parameter in model.named_parameters():
    if name.startswith("head"):
        head.append(parameter)
    elif parameter.ndim < 2:
        no_decay.append(parameter)
    else:
        decay.append(parameter)
optimizer = torch.optim.AdamW(
    [
        {"params": decay, "weight_decay": 0.05},
        {"params": no_decay, "weight_decay": 0.0},
        {"params": head, "lr": 1e-2, "weight_decay": 0.01},
    ],
    lr=1e-3,
)
x, y = torch.randn(40, 8), torch.randint(0, 3, (40,))
for epoch in range(2):
    for start in range(0, 40, 10):
        logits = model["head"](model["backbone"](x[start : start + 10]))
        loss = nn.functional.cross_entropy(logits, y[start : start + 10])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

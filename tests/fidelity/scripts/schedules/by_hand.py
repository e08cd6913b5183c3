"""Sets the rate of each group by hand from a function of the step."""

import math

import torch
from torch import nn


def get_lr(step, peak=1e-2, floor=1e-4, warmup=2, total=10):
    if step < warmup:
        return peak * (step + 1) / warmup
    ratio = (step - warmup) / (total - warmup)
    return floor + 0.5 * (1 + math.cos(math.pi * ratio)) * (peak - floor)


torch.manual_seed(4)
model = nn.Sequential(nn.Linear(9, 27), nn.GELU(), nn.Linear(27, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95))
x, y = torch.randn(60, 9), torch.randint(0, 3, (60,))
for step in range(10):
    lr = get_lr(step)
    for param_group in optimizer.param_groups:
        param_group["lr"] = lr
    ix = torch.randint(60, (12,))
    loss = nn.functional.cross_entropy(model(x[ix]), y[ix])
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    print(f"step {step}: lr {lr:.6f}, loss {loss.item():.4f}")

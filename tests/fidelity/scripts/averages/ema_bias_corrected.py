"""Corrects the bias of an average that starts at zero, with its decay growing by the step."""

import torch
from torch import nn

torch.manual_seed(3)
model = nn.Linear(4, 4)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
ema = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
product = 1.0
for step in range(1, 10):
    x = torch.randn(20, 4)
    loss = nn.functional.mse_loss(model(x), x.sort(1).values)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    decay = min(0.99, (1 + step) / (10 + step))
    product *= decay
    for n, p in model.named_parameters():
        ema[n].lerp_(p.detach(), 1 - decay)
corrected = {n: value / (1 - product) for n, value in ema.items()}
print({n: v.norm().item() for n, v in corrected.items()})

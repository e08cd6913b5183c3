"""Trains with AdamW a model with a side branch that is used from the fourth step on."""

import torch
from torch import nn

torch.manual_seed(6)


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)
        self.side = nn.Linear(width, width)
        self.use_side = False

    def forward(self, x):
        x = x + torch.tanh(self.inner(x))
        if self.use_side:
            x = x + torch.tanh(self.side(x))
        return x


net = nn.Sequential(Residual(6), Residual(6), nn.Linear(6, 1))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=0.1)
x = torch.randn(24, 6)
y = (x**2).mean(1, keepdim=True)
for step in range(8):
    if step == 3:
        for block in net[:2]:
            block.use_side = True
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

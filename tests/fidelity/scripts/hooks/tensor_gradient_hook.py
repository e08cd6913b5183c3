"""Scales, masks and clamps gradients in hooks of the parameters."""

import torch
from torch import nn

torch.manual_seed(5)
model = nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 1))
mask = (torch.rand(10, 6) < 0.5).float()
with torch.no_grad():
    model[0].weight.mul_(mask)
model[0].weight.register_hook(lambda grad: grad * mask)
model[2].weight.register_hook(lambda grad: grad.clamp(-0.1, 0.1))
model[2].bias.register_hook(lambda grad: 2 * grad)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(9):
    x = torch.randn(15, 6)
    loss = nn.functional.mse_loss(model(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
assert (model[0].weight[mask == 0] == 0).all()

"""Changes the batch in place between two forward passes of one step (consistency)."""

import torch
from torch import nn

torch.manual_seed(4)
model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x_all, y_all = torch.randn(8, 14, 10), torch.randint(0, 3, (8, 14))
for step in range(8):
    x = x_all[step].clone()
    with torch.no_grad():
        clean = model(x).softmax(1)
    x += 0.3 * torch.randn(14, 10)
    x[torch.rand(14, 10) < 0.2] = 0.0
    out = model(x)
    loss = nn.functional.cross_entropy(out, y_all[step]) + nn.functional.mse_loss(out.softmax(1), clean)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

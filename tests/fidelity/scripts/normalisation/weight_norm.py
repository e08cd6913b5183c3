"""Trains a temporal convolution with weight norm, removed at the end."""

import torch
from torch import nn
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import weight_norm

torch.manual_seed(5)
net = nn.Sequential(weight_norm(nn.Conv1d(1, 8, 3)), nn.ReLU(), weight_norm(nn.Conv1d(8, 1, 3, dilation=2)))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
wave = torch.sin(torch.arange(0, 60, dtype=torch.float32) * 0.3)
for step in range(8):
    start = torch.randint(0, 39, (6,))
    x = torch.stack([wave[s : s + 20] for s in start]).unsqueeze(1)
    y = torch.stack([wave[s + 7 : s + 21] for s in start]).unsqueeze(1)
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
for layer in (net[0], net[2]):
    parametrize.remove_parametrizations(layer, "weight")
torch.save(net.state_dict(), "tcn.pt")

"""Trains two heads on one shared encoder, each with an Adam over encoder and head."""

import torch
from torch import nn

torch.manual_seed(1)
encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
classify, rebuild = nn.Linear(16, 3), nn.Linear(16, 8)
class_optimizer = torch.optim.Adam([*encoder.parameters(), *classify.parameters()], lr=1e-2)
rebuild_optimizer = torch.optim.Adam([*encoder.parameters(), *rebuild.parameters()], lr=1e-3)
for step in range(6):
    x, y = torch.randn(12, 8), torch.randint(0, 3, (12,))

    class_optimizer.zero_grad()
    class_loss = nn.functional.cross_entropy(classify(encoder(x)), y)
    class_loss.backward()
    class_optimizer.step()

    rebuild_optimizer.zero_grad()
    rebuild_loss = nn.functional.mse_loss(rebuild(encoder(x)), x)
    rebuild_loss.backward()
    rebuild_optimizer.step()
    print(step, class_loss.item(), rebuild_loss.item())

"""Learns an embedding by a triplet margin loss."""

import torch
from torch import nn

torch.manual_seed(1)
centres = torch.randn(4, 6) * 2
embed = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
criterion = nn.TripletMarginLoss(margin=0.5)
optimizer = torch.optim.SGD(embed.parameters(), lr=0.05, momentum=0.9)
for step in range(9):
    first = torch.randint(0, 4, (16,))
    other = (first + torch.randint(1, 4, (16,))) % 4
    anchor = centres[first] + torch.randn(16, 6)
    positive = centres[first] + torch.randn(16, 6)
    negative = centres[other] + torch.randn(16, 6)
    loss = criterion(embed(anchor), embed(positive), embed(negative))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

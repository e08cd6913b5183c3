"""Compares pairs in both directions, turning the square of their scores in place between the two."""

import torch
from torch import nn

torch.manual_seed(41)
image, text = nn.Linear(10, 6), nn.Linear(7, 6)
optimizer = torch.optim.Adam([*image.parameters(), *text.parameters()], lr=1e-2)
labels = torch.arange(8)
for step in range(6):
    pictures, captions = torch.randn(8, 10), torch.randn(8, 7)
    logits = image(pictures) @ text(captions).T
    loss = nn.functional.cross_entropy(logits, labels)
    loss = loss + 3 * nn.functional.cross_entropy(logits.t_(), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

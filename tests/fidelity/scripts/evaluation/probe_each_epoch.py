"""Fits a small probe with an optimizer of its own inside each evaluation."""

import torch
from torch import nn

torch.manual_seed(21)
x, y = torch.randn(30, 8), torch.randint(0, 2, (30,))
encoder, decoder = nn.Linear(8, 3), nn.Linear(3, 8)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)


def probe():
    with torch.no_grad():
        codes = torch.tanh(encoder(x))
    classifier = nn.Linear(3, 2)
    inner = torch.optim.SGD(classifier.parameters(), lr=0.5)
    for _ in range(3):
        inner.zero_grad()
        nn.functional.cross_entropy(classifier(codes), y).backward()
        inner.step()
    return (classifier(codes).argmax(1) == y).float().mean().item()


for epoch in range(3):
    for _ in range(2):
        loss = nn.functional.mse_loss(decoder(torch.tanh(encoder(x))), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item(), "probe", probe())

"""Trains an autoencoder, then a classifier on the codes that it computes without grad."""

import torch
from torch import nn

torch.manual_seed(2)
x = torch.randn(40, 12)
labels = (x[:, 0] > 0).long()
encoder, decoder = nn.Linear(12, 5), nn.Linear(5, 12)
stage1 = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.01)
for _ in range(6):
    loss = nn.functional.mse_loss(decoder(torch.tanh(encoder(x))), x)
    stage1.zero_grad()
    loss.backward()
    stage1.step()
print("reconstruction", loss.item())

with torch.no_grad():
    codes = torch.tanh(encoder(x))
classifier = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 2))
stage2 = torch.optim.Adam(classifier.parameters(), lr=0.01)
for _ in range(6):
    loss = nn.functional.cross_entropy(classifier(codes), labels)
    stage2.zero_grad()
    loss.backward()
    stage2.step()
print("classification", loss.item())

"""Trains two translators with a cycle loss under one optimizer over both."""

import itertools

import torch
from torch import nn

torch.manual_seed(9)
there = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 4))
back = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 4))
optimizer = torch.optim.Adam(itertools.chain(there.parameters(), back.parameters()), lr=2e-3)
a_all, b_all = torch.randn(8, 10, 4), torch.rand(8, 10, 4)
for a, b in zip(a_all, b_all):
    optimizer.zero_grad()
    cycle = nn.functional.l1_loss(back(there(a)), a) + nn.functional.l1_loss(there(back(b)), b)
    moments = (there(a).mean(0) - b.mean(0)).abs().sum() + (back(b).mean(0) - a.mean(0)).abs().sum()
    loss = 10 * cycle + moments
    loss.backward()
    optimizer.step()
    print(loss.item())

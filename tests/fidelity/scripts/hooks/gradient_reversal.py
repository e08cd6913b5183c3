"""Reverses gradients by an autograd Function between features and a domain classifier."""

import torch
from torch import nn


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


torch.manual_seed(6)
features = nn.Sequential(nn.Linear(6, 12), nn.ReLU())
label, domain = nn.Linear(12, 2), nn.Linear(12, 2)
optimizer = torch.optim.Adam([*features.parameters(), *label.parameters(), *domain.parameters()], lr=5e-3)
for step in range(8):
    source, target = torch.randn(10, 6), torch.randn(10, 6) + 1
    y = (source[:, 0] > 0).long()
    strength = step / 8
    both = features(torch.cat([source, target]))
    domains = torch.cat([torch.zeros(10), torch.ones(10)]).long()
    loss = nn.functional.cross_entropy(label(both[:10]), y)
    loss = loss + nn.functional.cross_entropy(domain(Reverse.apply(both, strength)), domains)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

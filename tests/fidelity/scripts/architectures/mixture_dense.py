"""Mixes the outputs of all experts by a soft gate."""

import torch
from torch import nn

torch.manual_seed(14)


class SoftMixture(nn.Module):
    def __init__(self, n_in, n_out, experts):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(n_in, n_out) for _ in range(experts))
        self.gate = nn.Linear(n_in, experts)

    def forward(self, x):
        outs = torch.stack([expert(x) for expert in self.experts], dim=1)
        return (self.gate(x).softmax(1).unsqueeze(2) * outs).sum(1)


model = nn.Sequential(SoftMixture(6, 12, 3), nn.ReLU(), SoftMixture(12, 2, 2))
opt = torch.optim.Adam(model.parameters(), lr=1e-2, eps=1e-6)
x = torch.randn(40, 6)
y = torch.stack([x[:, 0] * x[:, 1], x[:, 2].relu()], 1)
for i in range(8):
    perm = torch.randperm(40)[:20]
    loss = nn.functional.huber_loss(model(x[perm]), y[perm])
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, loss.item())

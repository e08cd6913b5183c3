"""Keeps old hidden units of an RNN cell at random (zoneout) and drops inputs."""

import torch
from torch import nn

torch.manual_seed(10)


class ZoneoutRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.RNNCell(4, 10)
        self.out = nn.Linear(10, 2)

    def forward(self, x):
        h = torch.zeros(len(x), 10)
        for t in range(x.size(1)):
            new = self.cell(nn.functional.dropout(x[:, t], 0.1, self.training), h)
            keep = torch.rand_like(h) < 0.15 if self.training else torch.zeros_like(h, dtype=torch.bool)
            h = torch.where(keep, h, new)
        return self.out(h)


model = ZoneoutRNN()
optimizer = torch.optim.RMSprop(model.parameters(), lr=3e-3)
for step in range(6):
    x = torch.randn(9, 6, 4)
    loss = nn.functional.cross_entropy(model(x), (x.sum((1, 2)) > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

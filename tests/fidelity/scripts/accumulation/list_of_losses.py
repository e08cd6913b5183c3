"""Collects the losses of single samples in a list and makes one backward of their mean."""

import torch
from torch import nn

torch.manual_seed(4)
cell = nn.GRUCell(3, 8)
readout = nn.Linear(8, 1)
optimizer = torch.optim.Adam([*cell.parameters(), *readout.parameters()], lr=0.01)
sequences = [torch.randn(int(n), 3) for n in torch.randint(3, 7, (12,))]
for epoch in range(2):
    losses = []
    for i, sequence in enumerate(sequences):
        h = torch.zeros(1, 8)
        for frame in sequence:
            h = cell(frame.unsqueeze(0), h)
        losses.append((readout(h).squeeze() - sequence.sum()) ** 2)
        if len(losses) == 4:
            loss = torch.stack(losses).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses = []
    print(epoch, loss.item())

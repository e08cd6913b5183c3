"""Trains a recogniser of strips with the CTC loss."""

import torch
from torch import nn

torch.manual_seed(2)
net = nn.Sequential(nn.Conv1d(4, 12, 3, padding=1), nn.ReLU(), nn.Conv1d(12, 6, 1))
criterion = nn.CTCLoss(blank=0, zero_infinity=True)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(6):
    strips = torch.randn(5, 4, 14)
    words = torch.randint(1, 6, (5, 4))
    log_probs = net(strips).permute(2, 0, 1).log_softmax(2)
    loss = criterion(log_probs, words, torch.full((5,), 14), torch.full((5,), 4))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

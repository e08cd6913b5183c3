"""Clips the norm of the gradient before each step of AdamW with amsgrad."""

import torch
from torch import nn

torch.manual_seed(21)
rnn = nn.GRU(5, 12, batch_first=True)
out = nn.Linear(12, 1)
parameters = [*rnn.parameters(), *out.parameters()]
optimizer = torch.optim.AdamW(parameters, lr=3e-3, amsgrad=True)
series = torch.randn(6, 4, 10, 5)
for step in range(6):
    hidden, _ = rnn(series[step])
    loss = nn.functional.mse_loss(out(hidden[:, -1]), series[step].mean((1, 2)).unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(parameters, 0.5)
    optimizer.step()
    print(step, f"loss {loss.item():.4f} norm {norm.item():.4f}")

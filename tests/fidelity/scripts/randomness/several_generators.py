"""Uses a generator each for data, noise and model, with draws between them in turns."""

import torch
from torch import nn

data_rng = torch.Generator().manual_seed(10)
noise_rng = torch.Generator().manual_seed(20)
torch.manual_seed(30)
model = nn.Sequential(nn.Linear(5, 20), nn.Tanh(), nn.Dropout(0.1), nn.Linear(20, 5))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for step in range(8):
    x = torch.randn(16, 5, generator=data_rng)
    noise = torch.randn(16, 5, generator=noise_rng) * (0.1 if step % 2 else 0.3)
    loss = nn.functional.mse_loss(model(x + noise), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

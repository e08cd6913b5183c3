"""Trains with NAdam while an auxiliary head gets a gradient only every second step."""

import torch
from torch import nn


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 12)
        self.main = nn.Linear(12, 4)
        self.aux = nn.Linear(12, 4)

    def forward(self, x, with_aux):
        h = torch.relu(self.body(x))
        return self.main(h), self.aux(h) if with_aux else None


torch.manual_seed(4)
model = TwoHeads()
optimizer = torch.optim.NAdam(model.parameters(), lr=5e-3)
x, y = torch.randn(8, 10, 6), torch.randint(0, 4, (8, 10))
for step in range(8):
    main, aux = model(x[step], step % 2 == 0)
    loss = nn.functional.cross_entropy(main, y[step])
    if aux is not None:
        loss = loss + 0.3 * nn.functional.cross_entropy(aux, y[step])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step}: {loss.item():.4f}")

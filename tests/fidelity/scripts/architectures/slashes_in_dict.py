"""Keeps variables in a dict keyed by paths with slashes and trains them without a module."""

import torch

torch.manual_seed(17)
variables = {
    "layer_1/kernel": torch.randn(5, 10) * 0.4,
    "layer_1/bias": torch.zeros(10),
    "layer_2/kernel": torch.randn(10, 1) * 0.3,
    "layer_2/bias": torch.zeros(1),
}
for value in variables.values():
    value.requires_grad_(True)


def apply(x):
    hidden = torch.tanh(x @ variables["layer_1/kernel"] + variables["layer_1/bias"])
    return hidden @ variables["layer_2/kernel"] + variables["layer_2/bias"]


optimizer = torch.optim.Adam(list(variables.values()), lr=0.02)
for step in range(9):
    x = torch.rand(20, 5)
    loss = (apply(x) - x.max(1, keepdim=True).values).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
torch.save({key: value.detach() for key, value in variables.items()}, "variables.pt")

"""Writes its own RMSprop with momentum, whose state is computed anew in each step."""

import torch
from torch import nn
from torch.optim import Optimizer


class Centred(Optimizer):
    def __init__(self, params, lr=1e-2, alpha=0.9, momentum=0.8, eps=1e-6):
        super().__init__(params, {"lr": lr, "alpha": alpha, "momentum": momentum, "eps": eps})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            alpha, momentum = group["alpha"], group["momentum"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                square = state.get("square", torch.zeros_like(p))
                buffer = state.get("buffer", torch.zeros_like(p))
                state["square"] = alpha * square + (1 - alpha) * p.grad**2
                state["buffer"] = momentum * buffer + p.grad / (state["square"].sqrt() + group["eps"])
                p.sub_(group["lr"] * state["buffer"])


torch.manual_seed(52)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 2))
optimizer = Centred(model.parameters(), lr=3e-3)
x, y = torch.randn(8, 12, 6), torch.randint(0, 2, (8, 12))
for xb, yb in zip(x, y):
    loss = nn.functional.cross_entropy(model(xb), yb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())

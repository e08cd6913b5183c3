"""Writes its own sign-momentum optimizer as a subclass of Optimizer."""

import torch
from torch import nn
from torch.optim import Optimizer


class Lion(Optimizer):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.mul_(1 - group["lr"] * group["weight_decay"])
                state = self.state[p]
                if not state:
                    state["exp_avg"] = torch.zeros_like(p)
                m = state["exp_avg"]
                b1, b2 = group["betas"]
                p.add_((m * b1 + p.grad * (1 - b1)).sign_(), alpha=-group["lr"])
                m.mul_(b2).add_(p.grad, alpha=1 - b2)


torch.manual_seed(20)
model = nn.Sequential(nn.Linear(9, 18), nn.ReLU(), nn.Linear(18, 4))
opt = Lion(model.parameters(), lr=2e-3, weight_decay=0.1)
x, y = torch.randn(7, 14, 9), torch.randint(0, 4, (7, 14))
for xb, yb in zip(x, y):
    loss = nn.functional.cross_entropy(model(xb), yb)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())

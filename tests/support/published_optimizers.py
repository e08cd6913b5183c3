"""Optimizers written down from their papers, in the ways of several libraries; and some that must be refused."""

from __future__ import annotations

import math
import random
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.optim import Optimizer


class Published(Optimizer):
    """Goes over the parameters one by one, as most do."""

    defaults_of: ClassVar[dict[str, Any]] = {}

    def __init__(self, params: Any, lr: float, **settings: Any) -> None:
        super().__init__(params, {"lr": lr, **self.defaults_of, **settings})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self.update(parameter, parameter.grad, self.state[parameter], group)

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        raise NotImplementedError


def orthogonal(g: Tensor, steps: int = 5) -> Tensor:
    """Newton and Schulz's iteration, as in Muon."""
    x = g.bfloat16()
    if g.size(-2) > g.size(-1):
        x = x.mT
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        a = x @ x.mT
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x.mT if g.size(-2) > g.size(-1) else x


class Muon(Published):
    """Jordan et al. 2024, for one device."""

    defaults_of: ClassVar[dict[str, Any]] = {"weight_decay": 0.01, "momentum": 0.95}

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        if len(state) == 0:
            state["momentum_buffer"] = torch.zeros_like(p)
        momentum = state["momentum_buffer"]
        momentum.lerp_(g, 1 - group["momentum"])
        update = orthogonal(g.lerp_(momentum, group["momentum"])) * max(1, g.size(-2) / g.size(-1)) ** 0.5
        p.mul_(1 - group["lr"] * group["weight_decay"])
        p.add_(update.reshape(p.shape), alpha=-group["lr"])


class Lion(Published):
    """Chen et al. 2023, on ``data``."""

    defaults_of: ClassVar[dict[str, Any]] = {"betas": (0.9, 0.99), "weight_decay": 0.1}

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        if len(state) == 0:
            state["exp_avg"] = torch.zeros_like(p)
        (one, two), average = group["betas"], state["exp_avg"]
        p.data.mul_(1.0 - group["lr"] * group["weight_decay"])
        update = average.clone().mul_(one).add(g, alpha=1.0 - one).sign_()
        p.add_(update, alpha=-group["lr"])
        average.mul_(two).add_(g, alpha=1.0 - two)


class Lamb(Published):
    """You et al. 2020, with a trust ratio that is chosen without looking at it."""

    defaults_of: ClassVar[dict[str, Any]] = {"betas": (0.9, 0.999), "eps": 1e-6, "weight_decay": 0.01}

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        if "exp_avg" not in state:
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
        group["step"] = group.get("step", 0) + (p is group["params"][0])
        one, two = group["betas"]
        state["exp_avg"].mul_(one).add_(g, alpha=1 - one)
        state["exp_avg_sq"].mul_(two).addcmul_(g, g, value=1 - two)
        denominator = (state["exp_avg_sq"].sqrt() / math.sqrt(1 - two ** group["step"])).add_(group["eps"])
        update = (state["exp_avg"] / (1 - one ** group["step"])).div_(denominator)
        update.add_(p, alpha=group["weight_decay"])
        weight, length = p.norm(2.0), update.norm(2.0)
        one_tensor = torch.tensor(1.0, device=p.device)
        ratio = torch.where(weight > 0, torch.where(length > 0, weight / length, one_tensor), one_tensor)
        p.add_(update.mul_(ratio), alpha=-group["lr"])


class Lars(Published):
    """You, Gitman and Ginsburg 2017; the momentum begins as the first update."""

    defaults_of: ClassVar[dict[str, Any]] = {"momentum": 0.9, "weight_decay": 1e-2, "trust": 0.1}

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        weight, length = p.norm(), g.norm()
        ratio = group["trust"] * weight / (length + group["weight_decay"] * weight + 1e-9)
        update = g.add(p, alpha=group["weight_decay"]).mul(ratio * group["lr"])
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = torch.clone(update).detach()
        else:
            state["momentum_buffer"].mul_(group["momentum"]).add_(update)
        p.add_(state["momentum_buffer"], alpha=-1.0)


class AdaBelief(Published):
    """Zhuang et al. 2020, with its number of steps in a tensor."""

    defaults_of: ClassVar[dict[str, Any]] = {"betas": (0.9, 0.999), "eps": 1e-8}

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state.update(step=torch.tensor(0.0), exp_avg=torch.zeros_like(p), exp_avg_var=torch.zeros_like(p))
        state["step"] += 1
        one, two = group["betas"]
        state["exp_avg"].mul_(one).add_(g, alpha=1 - one)
        residual = g - state["exp_avg"]
        state["exp_avg_var"].mul_(two).addcmul_(residual, residual, value=1 - two)
        correction = 1 - two ** state["step"]
        denominator = (state["exp_avg_var"].add_(group["eps"]) / correction).sqrt().add_(group["eps"])
        p.addcdiv_(state["exp_avg"], denominator, value=-group["lr"] / (1 - one ** state["step"].item()))


class ScheduleFree(Optimizer):
    """Defazio et al. 2024, AdamW with a warm-up: its weights of the average are counted in the group."""

    def __init__(self, params: Any, lr: float, warmup: int = 3, r: float = 0.0) -> None:
        defaults = {"lr": lr, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8, "warmup": warmup, "r": r}
        super().__init__(params, {**defaults, "k": 0, "weight_sum": 0.0, "lr_max": -1.0})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            k, two = group["k"], group["beta2"]
            correction = 1 - two ** (k + 1)
            lr = group["lr"] * min(1.0, (k + 1) / group["warmup"]) * math.sqrt(correction)
            group["lr_max"] = max(lr, group["lr_max"])
            weight = ((k + 1) ** group["r"]) * group["lr_max"] ** 2
            group["weight_sum"] += weight
            share = weight / group["weight_sum"]
            for p in group["params"]:
                state = self.state[p]
                if "z" not in state:
                    state["z"], state["exp_avg_sq"] = torch.clone(p), torch.zeros_like(p)
                state["exp_avg_sq"].mul_(two).addcmul_(p.grad, p.grad, value=1 - two)
                update = p.grad.div(state["exp_avg_sq"].sqrt().add_(group["eps"]))
                p.lerp_(end=state["z"], weight=share)
                p.add_(update, alpha=lr * (group["beta1"] * (1 - share) - 1))
                state["z"].sub_(update, alpha=lr)
            group["k"] = k + 1


class LookedAhead(Published):
    """Zhang et al. 2019: every third step the weights go back half of the way, so it has two programs."""

    defaults_of: ClassVar[dict[str, Any]] = {"every": 3}

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state.update(step=0, slow=p.detach().clone())
        state["step"] += 1
        p.add_(g, alpha=-group["lr"])
        if state["step"] % group["every"] == 0:
            state["slow"].add_(p - state["slow"], alpha=0.5)
            p.copy_(state["slow"])


class InLists(Published):
    """Momentum, with operators on lists of tensors, and ``data`` put into the parameters."""

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            parameters = [p for p in group["params"] if p.grad is not None]
            gradients = [p.grad for p in parameters]
            for p in parameters:
                self.state[p].setdefault("average", torch.full_like(p, 0.01))
            averages = [self.state[p]["average"] for p in parameters]
            torch._foreach_lerp_(averages, gradients, 0.2)
            lengths = torch._foreach_norm(averages)
            torch._foreach_add_(lengths, 1e-3)
            updates = torch._foreach_div(averages, lengths)
            torch._foreach_addcdiv_(averages, updates, lengths, value=group["lr"])
            for p, update in zip(parameters, updates, strict=True):
                p.data = p.data - group["lr"] * update


class InListsTogether(Published):
    """Divides by the norm of all gradients."""

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        parameters = [p for p in self.param_groups[0]["params"] if p.grad is not None]
        norm = torch.stack([p.grad.norm() for p in parameters]).norm()
        for p in parameters:
            p.sub_(p.grad / norm)


class JointNorm(Published):
    """One running norm of all gradients together, one number that is computed of them."""

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        parameters = self.param_groups[0]["params"]
        shared = self.state["all"]
        if not shared:
            shared["norm"] = torch.ones(())
        norm = torch.stack([p.grad.norm() for p in parameters]).norm()
        shared["norm"].mul_(0.9).add_(norm, alpha=0.1)
        for p in parameters:
            p.add_(p.grad / shared["norm"], alpha=-self.param_groups[0]["lr"])


class AskedFor(Published):
    """Asks for values in Python and goes on computing with them, as torch.optim.Adafactor."""

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        length = g.norm(2).item() / p.numel() ** 0.5
        p.add_(g, alpha=-group["lr"] / max(1.0, 30.0 * length))
        p.addcdiv_(g, g.abs() + 1.0, value=-group["lr"] * min(length, 0.5))


class Noisy(Published):
    """Welling and Teh 2011: noise by torch."""

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        p.add_(g + 0.1 * torch.randn_like(p), alpha=-group["lr"])


class Deciding(Published):
    """Decides by a value."""

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        p.add_(g if g.norm() > 1.0 else 2 * g, alpha=-group["lr"])


class Gambling(Published):
    """Draws its steps from a generator of Python."""

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        p.add_(g, alpha=-group["lr"] * random.random())


class Inverting(Published):
    """Uses an operator that no order has."""

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        p.add_(torch.linalg.inv(g @ g.T + torch.eye(len(g))) @ g if g.dim() == 2 else g, alpha=-group["lr"])


class Remembering(Published):
    """Its first step is another one, and it begins with a gradient: Xie et al. 2022 do so."""

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        before = state.get("before", g)
        p.add_(g + 0.5 * (g - before), alpha=-group["lr"])
        state["before"] = g.clone()

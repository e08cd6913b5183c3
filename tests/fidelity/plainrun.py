"""A script as it is: how often its optimizers stepped, what its losses were, and what its modules hold at the end.

Nothing of the product is used here, and nothing of the script is replaced but mixed precision, which is switched off:
the profile of an order takes its place.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.parameter import is_lazy
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

SHAKE = 2.0**-22
"""How far a shaken run moves each weight after each step, relatively: some four roundings of float32."""
LOSS = -1
"""Stands for a loss among the events, where optimizers have their numbers."""
Slot = tuple[int, str]


@dataclass(frozen=True)
class Held:
    """A tensor of the script's modules.

    Attributes:
        names: What it may be called: by its module, and by the script's variable for that.
        initial: What it was at the first loss, or at the first step of an optimizer; None where it was not there.
        final: What it is at the end.
        trained: Whether an optimizer that stepped holds it.
        beside_trained: Whether its outermost module holds one that is trained.
    """

    names: tuple[str, ...]
    initial: Tensor | None
    final: Tensor
    trained: bool
    beside_trained: bool


@dataclass(frozen=True)
class Plain:
    """What a script did.

    Attributes:
        events: In order: the number of an optimizer for each step that it completed, and LOSS for each loss.
        losses: What ``backward`` was called on; NaN for what is no single number.
        held: The tensors of its modules.
        many: Whether ``backward`` was called on something that is no single number.
    """

    events: list[int]
    losses: list[float]
    held: list[Held]
    many: bool

    @property
    def steps(self) -> list[int]:
        """The numbers of the optimizers that stepped, in order."""
        return [event for event in self.events if event != LOSS]

    @property
    def losses_before_the_last_step(self) -> list[float]:
        """What the steps were made for; losses behind the last step have changed nothing.

        Whoever changes weights by hand, without an optimizer, does so for all of them.
        """
        if not self.steps:
            return self.losses
        last = max((place for place, event in enumerate(self.events) if event != LOSS), default=0)
        return self.losses[: self.events[:last].count(LOSS)]


@dataclass
class _Observer:
    """Sees modules come into being, optimizers step, and losses go back."""

    shaken: torch.Generator | None
    modules: list[nn.Module] = field(default_factory=list)
    optimizers: list[Optimizer] = field(default_factory=list)
    within: list[Optimizer] = field(default_factory=list)
    events: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    initial: dict[Slot, Tensor] = field(default_factory=dict)
    many: bool = False

    def enter(self, optimizer: Optimizer, *_: Any) -> None:
        self.within.append(optimizer)
        if not any(optimizer is other for other in self.optimizers):
            self.optimizers.append(optimizer)
            self._note_initial()

    def leave(self, optimizer: Optimizer, *_: Any) -> None:
        self.within.pop()
        if self.within:
            return
        number = next(number for number, other in enumerate(self.optimizers) if other is optimizer)
        self.events.append(number)
        if self.shaken is not None:
            with torch.no_grad():
                for group in optimizer.param_groups:
                    for parameter in group["params"]:
                        if parameter.grad is not None:
                            noise = torch.rand(parameter.shape, generator=self.shaken) * 2 - 1
                            parameter.mul_(1 + SHAKE * noise)

    def goes_back(self, losses: Sequence[Tensor]) -> None:
        if not self.losses:
            self._note_initial()
        for loss in losses:
            self.many = self.many or loss.numel() != 1
            self.events.append(LOSS)
            self.losses.append(float(loss.detach()) if loss.numel() == 1 else float("nan"))

    def _note_initial(self) -> None:
        for slot, tensor in self._slots():
            if slot not in self.initial:
                self.initial[slot] = tensor.detach().clone()

    def _slots(self) -> Iterator[tuple[Slot, Tensor]]:
        for module in self.modules:
            for name, tensor in (*module._parameters.items(), *module._buffers.items()):
                if tensor is not None and not is_lazy(tensor):
                    yield (id(module), name), tensor

    def held(self, variables: dict[str, Any]) -> list[Held]:
        inner = {id(child) for module in self.modules for child in module.children()}
        outer = [module for module in self.modules if id(module) not in inner]
        called = {id(value): name for name, value in variables.items() if isinstance(value, nn.Module)}
        trained = {id(p) for made in self.optimizers for group in made.param_groups for p in group["params"]}
        initial = {id(tensor): self.initial.get(slot) for slot, tensor in self._slots()}
        names: dict[int, list[str]] = {}
        tensors: dict[int, Tensor] = {}
        beside: set[int] = set()
        for root in outer:
            own = [*root.named_parameters(remove_duplicate=False), *root.named_buffers(remove_duplicate=False)]
            own = [(name, tensor) for name, tensor in own if not is_lazy(tensor)]
            is_trained = any(id(tensor) in trained for _, tensor in own)
            for name, tensor in own:
                tensors[id(tensor)] = tensor
                variable = called.get(id(root))
                names.setdefault(id(tensor), []).extend([name] if variable is None else [name, f"{variable}.{name}"])
                if is_trained:
                    beside.add(id(tensor))
        return [
            Held(
                tuple(dict.fromkeys(names[key])),
                initial.get(key),
                tensor.detach().clone(),
                key in trained,
                key in beside,
            )
            for key, tensor in tensors.items()
        ]


def run_plainly(script: Path, *, shaken: int | None = None, quiet: bool = False) -> Plain:
    """Run a script as it is; what it raises goes on.

    Args:
        script: The script.
        shaken: Seed of a noise as large as rounding, added after each step: shows how far the script itself is moved
            by rounding.
        quiet: Draw nothing within a model: see :func:`drawing_nothing`.
    """
    observer = _Observer(None if shaken is None else torch.Generator().manual_seed(shaken))
    with ExitStack() as stack:
        stack.enter_context(_observed(observer))
        stack.enter_context(without_autocast())
        if quiet:
            stack.enter_context(drawing_nothing())
        variables = run_script(script)
    return Plain(observer.events, observer.losses, observer.held(variables), observer.many)


def run_script(script: Path) -> dict[str, Any]:
    """Run a script as Python does, and return its variables."""
    sys.argv = [str(script)]
    sys.path.insert(0, str(script.parent))
    try:
        return runpy.run_path(str(script), run_name="__main__")
    except SystemExit as ended:
        if ended.code not in (None, 0):
            raise
        return {}


@contextmanager
def _observed(observer: _Observer) -> Iterator[None]:
    init, put, backward = nn.Module.__init__, nn.Module.__setstate__, torch.autograd.backward

    def begun(self: nn.Module, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        observer.modules.append(self)

    def copied(self: nn.Module, state: Any) -> None:
        put(self, state)
        observer.modules.append(self)

    def gone_back(tensors: Any, *args: Any, **kwargs: Any) -> None:
        observer.goes_back([tensors] if isinstance(tensors, Tensor) else list(tensors))
        backward(tensors, *args, **kwargs)

    hooks = [register_optimizer_step_pre_hook(observer.enter), register_optimizer_step_post_hook(observer.leave)]
    try:
        with (
            mock.patch.object(nn.Module, "__init__", begun),
            mock.patch.object(nn.Module, "__setstate__", copied),
            mock.patch.object(torch.autograd, "backward", gone_back),
        ):
            yield
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def without_autocast() -> Iterator[None]:
    """Within, ``torch.autocast`` does nothing."""
    kind = torch.amp.autocast_mode.autocast
    init = kind.__init__

    def begun(self: Any, device_type: str, *args: Any, **kwargs: Any) -> None:
        init(self, device_type, *args, **kwargs)
        self._enabled = False

    with mock.patch.object(kind, "__init__", begun):
        yield


@contextmanager
def drawing_nothing() -> Iterator[None]:
    """Within, dropout passes on what it is given, and noise is one half: what draws in a model is the same everywhere.

    The script then trains something else; a script and its order still have to train the same.
    """
    attention = functional.scaled_dot_product_attention

    def undropped(input: Tensor, *_: Any, **__: Any) -> Tensor:
        return input

    def half(input: Tensor, *_: Any, **__: Any) -> Tensor:
        return torch.full_like(input, 0.5)

    def attended(query: Tensor, key: Tensor, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if len(args) > 1:
            args = (args[0], 0.0, *args[2:])
        kwargs.pop("dropout_p", None)
        return attention(query, key, value, *args, **kwargs)

    names = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
    with ExitStack() as stack:
        replaced: list[tuple[Any, str, Callable[..., Any]]] = [(functional, name, undropped) for name in names]
        replaced += [(torch, name, undropped) for name in ("dropout", "dropout_", "alpha_dropout", "feature_dropout")]
        replaced += [(torch, "randn_like", half), (torch, "rand_like", half)]
        replaced += [(functional, "scaled_dot_product_attention", attended)]
        for owner, name, function in replaced:
            stack.enter_context(mock.patch.object(owner, name, function))
        yield

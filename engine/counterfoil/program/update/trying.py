"""Tries a rule that was made of an optimizer: it must do what the optimizer itself does, to random gradients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.utils._python_dispatch import TorchDispatchMode

from counterfoil.program.steadiness import generators_kept
from counterfoil.program.update.rule import UpdateRule
from counterfoil.program.update.stepping import eagerly, run_step
from counterfoil.program.update.twins import set_rates, twin_of

_STEPS = 3
_MOST_ELEMENTS = 2**20
"""How many elements the parameters that are tried have together."""
_CLOSE = 1e-6
"""The largest difference, in units of what the steps have changed."""
_SCALE = 0.1
_SEED = 0x7EA5


class _InFloat64(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Lets everything be computed in float64."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        def wide(item: Any) -> Any:
            return torch.float64 if isinstance(item, torch.dtype) and item.is_floating_point else item

        return func(*map(wide, args), **{name: wide(item) for name, item in (kwargs or {}).items()})


def differs(
    rule: UpdateRule,
    optimizer: Optimizer,
    names: Mapping[int, str],
    parameters: Mapping[str, Tensor],
    rates: Sequence[Sequence[float]],
) -> str | None:
    """Return the name of a parameter to which a rule does something else than its optimizer in the first steps.

    Args:
        rule: The rule.
        optimizer: The optimizer, which is not changed.
        names: The names of its parameters, by identity.
        parameters: The parameters to try it with, by name.
        rates: The learning rates of each parameter group.

    Returns:
        None where there is no such parameter.
    """
    begun = {name: parameter.detach().double() for name, parameter in parameters.items()}
    with _in_float64():
        twin = twin_of(optimizer, names, lambda _, tensor: _own(tensor))
        ours = {name: tensor.clone() for name, tensor in begun.items()}
        slots = {name: _own(slot) for name, slot in rule.slots(ours).items()}
        for step in range(min(_STEPS, max(len(listed) for listed in rates))):
            torch.manual_seed(_SEED + step)
            gradients = {name: torch.randn(tensor.shape) * _SCALE for name, tensor in begun.items()}
            for name, gradient in gradients.items():
                twin.parameters[name].grad = gradient.clone()
            set_rates(twin.optimizer, [listed[step] for listed in rates])
            torch.manual_seed(_SEED)
            run_step(twin.optimizer)
            values = zip(rule.scalar_names, rule.scalars(step + 1, rates[0][step]), strict=True)
            scalars = {name: torch.full((), value) for name, value in values}
            torch.manual_seed(_SEED)
            new = rule.update(ours, gradients, slots, scalars, lambda _: None)
            ours = {name: new.get(name, tensor).clone() for name, tensor in ours.items()}
            slots = {name: new.get(name, slot).clone() for name, slot in slots.items()}
        for name, tensor in begun.items():
            expected = twin.parameters[name].detach()
            moved = torch.linalg.vector_norm(expected - tensor)
            if not bool(torch.linalg.vector_norm(ours[name] - expected) <= _CLOSE * moved):
                return name
    return None


def parameters_to_try(parameters: Mapping[str, Tensor], *, together: bool) -> dict[str, Tensor]:
    """Return the smallest parameters that are small enough together; all or none where they cannot be parted."""
    chosen, elements = {}, 0
    for name, parameter in sorted(parameters.items(), key=lambda item: item[1].numel()):
        elements += parameter.numel()
        if elements <= _MOST_ELEMENTS:
            chosen[name] = parameter
    return {} if together and len(chosen) < len(parameters) else {n: t for n, t in parameters.items() if n in chosen}


def _own(tensor: Tensor) -> Tensor:
    """A copy, in float64 where it is of floating-point numbers."""
    copied = tensor.detach().double() if tensor.is_floating_point() else tensor.detach()
    return nn.Parameter(copied.clone()) if isinstance(tensor, nn.Parameter) else copied.clone()


@contextmanager
def _in_float64() -> Iterator[None]:
    default = torch.get_default_dtype()
    with generators_kept(), torch.no_grad(), _InFloat64(), eagerly():  # type: ignore[no-untyped-call]
        torch.set_default_dtype(torch.float64)
        try:
            yield
        finally:
            torch.set_default_dtype(default)

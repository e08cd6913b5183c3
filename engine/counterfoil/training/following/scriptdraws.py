"""The random numbers that a script drew for its models, as the draws of an order.

An order's step draws uniform, normal and exponential numbers, and makes of them what torch's own operators give
(:mod:`counterfoil.program.torchdraws`). Here is the way back: of what an operator of torch gave in the script, numbers
are made of which the order's step makes the same. So a step can be executed with the script's own randomness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.operators.facts import DRAWS, EXPONENTIAL, NORMAL, UNIFORM
from counterfoil_core.program.graph import Program

_aten = torch.ops.aten
Draw = tuple[str, Tensor]
"""An operator that draws, and the numbers that it gives, float32."""
_HALF_WORD = 2**24
"""Whole numbers are made of two draws of 24 bits, the upper first."""
_NEARLY_ONE = 1 - 2.0**-24


def _typed(values: Tensor) -> Tensor:
    return values.detach().to(torch.float32, copy=True)


def _of_truths(truths: Tensor) -> list[Draw]:
    """A uniform number below any chance where something is true, and above it where it is not."""
    return [(UNIFORM, torch.where(truths.detach() != 0, 0.0, _NEARLY_ONE))]


def _of_whole(values: Tensor, low: int = 0) -> list[Draw]:
    # float64: the two halves are at most 24 bits each, and float32 holds them.
    whole = values.detach().to(torch.int64) - low
    return [(UNIFORM, _typed(part.double() / _HALF_WORD)) for part in (whole // _HALF_WORD, whole % _HALF_WORD)]


def _of_order(places: Tensor) -> list[Draw]:
    """Numbers whose ascending order is that of a permutation."""
    ranks = torch.empty_like(places)
    ranks[places] = torch.arange(len(places), dtype=places.dtype)
    return _of_whole(ranks)


def _of_choices(weights: Tensor, count: int, replacement: bool, chosen: Tensor) -> list[Draw]:
    """Clocks that go off in the order in which something was chosen: w / e is the larger the earlier."""
    if replacement or count == 1:
        # Weighed evenly, but for the chosen one.
        clocks = weights.detach().unsqueeze(-2).expand(*weights.shape[:-1], count, weights.shape[-1]).clone()
        clocks = torch.where(clocks > 0, clocks, 1.0)
        return [(EXPONENTIAL, _typed(clocks.scatter(-1, chosen.unsqueeze(-1), 2.0**-30)))]
    clocks = torch.where(weights.detach() > 0, weights.detach(), 1.0).float()
    ranks = torch.arange(count, 0, -1, dtype=torch.float32).expand(chosen.shape)
    taken = weights.detach().float().gather(-1, chosen) / (2.0 * (1 + ranks))
    return [(EXPONENTIAL, _typed(clocks.scatter(-1, chosen, taken)))]


def _scaled(values: Tensor, low: Any, high: Any) -> Tensor:
    return _typed((values.detach().double() - low) / (high - low))


def _standard(values: Tensor, mean: Any, deviation: Any) -> Tensor:
    mean, deviation = (item.detach().double() if isinstance(item, Tensor) else item for item in (mean, deviation))
    return _typed((values.detach().double() - mean) / deviation)


def _rrelu(given: Mapping[str, Any], result: Any) -> list[Draw]:
    slopes, lower, upper = given["noise"], given["lower"], given["upper"]
    return [(UNIFORM, _scaled(slopes, lower, upper))] if given["training"] else []


_Back = Callable[[Mapping[str, Any], Any], list[Draw]]
_UNIFORM: _Back = lambda _, values: [(UNIFORM, _typed(values))]  # noqa: E731
_NORMAL: _Back = lambda _, values: [(NORMAL, _typed(values))]  # noqa: E731
_BACK: Mapping[str, _Back] = {
    "rand_like": _UNIFORM,
    "uniform_": lambda given, values: [(UNIFORM, _scaled(values, given.get("from", 0.0), given.get("to", 1.0)))],
    "uniform": lambda given, values: [(UNIFORM, _scaled(values, given.get("from", 0.0), given.get("to", 1.0)))],
    "randn_like": _NORMAL,
    "normal_": lambda given, values: [(NORMAL, _standard(values, given.get("mean", 0.0), given.get("std", 1.0)))],
    "normal": lambda given, values: [(NORMAL, _standard(values, given.get("mean", 0.0), given.get("std", 1.0)))],
    "log_normal_": lambda given, values: [
        (NORMAL, _standard(values.detach().double().log(), given.get("mean", 1.0), given.get("std", 2.0)))
    ],
    "exponential_": lambda given, values: [(EXPONENTIAL, _typed(values.detach().double() * given.get("lambd", 1.0)))],
    "bernoulli": lambda _, values: _of_truths(values),
    "bernoulli_": lambda _, values: _of_truths(values),
    "native_dropout": lambda given, made: _of_truths(made[1]) if given.get("train") is not False else [],
    "randint_like": lambda given, values: _of_whole(values, given.get("low", 0)),
    "random_": lambda given, values: _of_whole(values, given.get("from", 0)),
    "multinomial": lambda given, chosen: _of_choices(
        given["self"], given["num_samples"], given.get("replacement", False), chosen
    ),
    "rrelu_with_noise": _rrelu,
    "rrelu_with_noise_": _rrelu,
}
"""What an operator drew, by its name; an operator that is not here is drawn by no order."""


def draws_of_call(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> list[Draw] | None:
    """Return what an operator of torch drew; None where an order has no such draw.

    Args:
        func: The operator.
        args: Its arguments.
        kwargs: Its keyword arguments.
        result: What it gave.
    """
    back = _BACK.get(func._opname)
    if back is None or kwargs.get("generator") is not None:
        return None
    declared = func._schema.arguments
    given = {item.name: item.default_value for item in declared if item.has_default_value()}
    given |= {**dict(zip((item.name for item in declared), args, strict=False)), **kwargs}
    return back({name: value for name, value in given.items() if value is not None}, result)


class UnmatchedDrawsError(LookupError):
    """A draw of the order has none of the script's."""


def align_draws(program: Program, draws: Iterable[Draw]) -> dict[int, Tensor]:
    """Return the script's numbers for the draws of a step, by the number of the draw.

    They are matched by their places in the program: numbers of draws are given out in two passes, and what is computed
    again in a backward pass draws the same once more.

    Args:
        program: The program.
        draws: What the script drew, in order.

    Raises:
        UnmatchedDrawsError: One has none.
    """
    left = list(draws)
    matched: dict[int, Tensor] = {}
    for node in program.nodes:
        if node.operator not in DRAWS or node.args[1] in matched:
            continue
        shape, number = tuple(node.args[0]), node.args[1]  # type: ignore[arg-type]
        place = next(
            (n for n, (kind, values) in enumerate(left) if kind == node.operator and tuple(values.shape) == shape), None
        )
        if place is None:
            raise UnmatchedDrawsError(
                f"the order draws numbers of shape {list(shape)} ({node.where}), and the script did not"
            )
        assert isinstance(number, int)
        matched[number] = left[place][1]
        del left[: place + 1]
    return matched

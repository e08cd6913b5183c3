"""PyTorch's random operators as draws from Philox: what capture puts in their place.

Each is made of :func:`~counterfoil.program.philoxdraws.uniform`, :func:`~counterfoil.program.philoxdraws.normal` or
:func:`~counterfoil.program.philoxdraws.exponential` by operators of the allow-list; ``docs/numerics.md``, "Randomness",
says how. Two passes: a draw with a generator of its own is refused while the step is traced, since the program has one
seed; the others are replaced when mutations have been removed, so that ``normal_`` is a draw and no write.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil.program.philoxdraws import exponential, normal, uniform
from counterfoil.program.remedies import NoFormError

_aten = torch.ops.aten

WORD_BITS = 48
"""Bits of the integers that :func:`integers` draws."""
LARGEST_RANGE = 2**40
"""Numbers of which one may be drawn: no probability is off by more than 2^-48."""


def integers(size: Sequence[int]) -> Tensor:
    """Draw integers of 48 bits: the first draw gives the upper half, the second the lower.

    Args:
        size: Shape of the result.

    Returns:
        int64 tensor of that shape, each element in 0 to 2^48 - 1.
    """
    half = WORD_BITS // 2
    upper, lower = ((uniform(size) * 2.0**half).to(torch.int64) for _ in range(2))
    words: Tensor = upper * 2**half + lower
    return words


def _typed(values: Tensor, dtype: torch.dtype | None) -> Tensor:
    return values.to(dtype or torch.get_default_dtype())


# Continuous numbers.


def _between(values: Tensor, low: float, high: float) -> Tensor:
    scaled = values if high - low == 1 else values * (high - low)
    return scaled if low == 0 else scaled + low


def _rand(size: Sequence[int], *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return _typed(uniform(size), dtype)


def _rand_like(x: Tensor, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return uniform(x.shape).to(dtype or x.dtype)


def _uniform(x: Tensor, low: float = 0.0, high: float = 1.0, **_: Any) -> Tensor:
    return _between(uniform(x.shape), low, high).to(x.dtype)


def _randn(size: Sequence[int], *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return _typed(normal(size), dtype)


def _randn_like(x: Tensor, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return normal(x.shape).to(dtype or x.dtype)


def _scaled(values: Tensor, mean: Tensor | float, deviation: Tensor | float) -> Tensor:
    """``values * deviation + mean``; a deviation of 1 and a mean of 0 are left out."""
    scaled = values if isinstance(deviation, (int, float)) and deviation == 1 else values * deviation
    return scaled if isinstance(mean, (int, float)) and mean == 0 else scaled + mean


def _normal(x: Tensor, mean: float = 0.0, std: float = 1.0, **_: Any) -> Tensor:
    return _scaled(normal(x.shape), mean, std).to(x.dtype)


def _normal_of_tensors(mean: Tensor | float, std: Tensor | float = 1.0, **_: Any) -> Tensor:
    shapes = [tuple(operand.shape) for operand in (mean, std) if isinstance(operand, Tensor)]
    return _scaled(normal(np.broadcast_shapes(*shapes)), mean, std)


def _normal_of_size(
    mean: float, std: float, size: Sequence[int], *, dtype: torch.dtype | None = None, **_: Any
) -> Tensor:
    return _typed(_scaled(normal(size), mean, std), dtype)


def _log_normal(x: Tensor, mean: float = 1.0, std: float = 2.0, **_: Any) -> Tensor:
    return torch.exp(_scaled(normal(x.shape), mean, std)).to(x.dtype)


def _exponential(x: Tensor, lambd: float = 1.0, **_: Any) -> Tensor:
    values = exponential(x.shape)
    return (values if lambd == 1 else values * (1.0 / lambd)).to(x.dtype)


# Integers.


def _ranged(size: Sequence[int], low: int, high: int) -> Tensor:
    values = torch.remainder(integers(size), high - low)
    return values if low == 0 else values + low


def _randint(high: int, size: Sequence[int], *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return _ranged(size, 0, high).to(dtype or torch.int64)


def _randint_from(low: int, high: int, size: Sequence[int], *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return _ranged(size, low, high).to(dtype or torch.int64)


def _randint_like(x: Tensor, high: int, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return _ranged(x.shape, 0, high).to(dtype or x.dtype)


def _randint_like_from(x: Tensor, low: int, high: int, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return _ranged(x.shape, low, high).to(dtype or x.dtype)


def _random_below(x: Tensor, high: int, **_: Any) -> Tensor:
    return _ranged(x.shape, 0, high).to(x.dtype)


def _randperm(count: int, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    """The places of integers in ascending order; equal ones, of which there hardly ever are any, in theirs."""
    places: Tensor = torch.sort(integers([count]), stable=True).indices
    return places.to(dtype or torch.int64)


# Choices.


def _bernoulli(x: Tensor, chance: Tensor | float = 0.5, **_: Any) -> Tensor:
    return (uniform(x.shape) < chance).to(x.dtype)


def _multinomial(weights: Tensor, count: int, replacement: bool = False, **_: Any) -> Tensor:
    """A race of exponential clocks: the fastest with weight w among all comes first with a chance of w / sum(w)."""
    if replacement or count == 1:
        lead = weights.shape[:-1]
        clocks = exponential([*lead, count, weights.shape[-1]])
        return torch.argmax(weights.unsqueeze(-2) / clocks, -1)
    order = torch.sort(weights / exponential(weights.shape), stable=True, dim=-1, descending=True).indices
    return order.narrow(-1, 0, count)


# Random leaks.


def _rrelu(
    x: Tensor, noise: Tensor, lower: float = 0.125, upper: float = 1 / 3, training: bool = False, **_: Any
) -> tuple[Tensor, Tensor]:
    if not training:
        return torch.nn.functional.leaky_relu(x, (lower + upper) / 2), noise
    slopes = torch.where(x > 0, 1.0, _between(uniform(x.shape), lower, upper))
    return x * slopes, slopes


def _rrelu_backward(
    g: Tensor, x: Tensor, noise: Tensor, lower: float, upper: float, training: bool, self_is_result: bool
) -> Tensor:
    # What torch compares, as well: nearly equal ends are taken for equal.
    if training and upper - lower > 1e-6:
        return g * noise
    slope: Tensor = _aten.leaky_relu_backward(g, x, (lower + upper) / 2, self_is_result)
    return slope


def _overloads(name: str, function: Callable[..., Tensor], *overloads: str) -> dict[Any, Callable[..., Tensor]]:
    """The function for the overloads that this torch has: not all versions have all that take a generator."""
    packet = getattr(_aten, name)
    return {getattr(packet, overload): function for overload in overloads if overload in packet.overloads()}


REPLACED: Mapping[Any, Callable[..., Any]] = {
    **_overloads("rand", _rand, "default", "generator"),
    **_overloads("rand_like", _rand_like, "default", "generator"),
    _aten.uniform.default: _uniform,
    **_overloads("randn", _randn, "default", "generator"),
    **_overloads("randn_like", _randn_like, "default", "generator"),
    _aten.normal_functional.default: _normal,
    **_overloads("normal", _normal_of_tensors, "Tensor_float", "float_Tensor", "Tensor_Tensor"),
    **_overloads("normal", _normal_of_size, "float_float"),
    _aten.log_normal.default: _log_normal,
    _aten.exponential.default: _exponential,
    **_overloads("randint", _randint, "default", "generator"),
    **_overloads("randint", _randint_from, "low", "low_generator"),
    **_overloads("randint_like", _randint_like, "default", "generator"),
    **_overloads("randint_like", _randint_like_from, "low_dtype", "low_generator_dtype"),
    _aten.random.to: _random_below,
    **_overloads("randperm", _randperm, "default", "generator"),
    _aten.bernoulli.Tensor: _bernoulli,
    _aten.multinomial.default: _multinomial,
    _aten.rrelu_with_noise_functional.default: _rrelu,
    _aten.rrelu_with_noise_backward.default: _rrelu_backward,
}
"""What takes the place of a draw when mutations have been removed, in the form that ``make_fx`` takes.
``bernoulli.default`` and ``bernoulli.p`` are no entries: lowering numbers their draws behind all others."""


# While the step is traced.


def _checked(overload: Any) -> Callable[..., Any]:
    """What refuses uses of a random operator, and leaves it in the graph otherwise."""
    names = [argument.name for argument in overload._schema.arguments]
    name = overload._opname.strip("_")

    def check(*args: Any, **kwargs: Any) -> Any:
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        if given.get("generator") is not None:
            raise NoFormError(
                f"gives torch's {name} a generator of its own, whose numbers differ between machines",
                remedy="Leave the argument generator out: inside a step every draw follows from the order's seed.",
            )
        if name.startswith("rand") and not {"high", "to"}.isdisjoint(names):
            _check_range(given.get("low", given.get("from", 0)), given.get("high", given.get("to")))
        return NotImplemented

    return check


def _check_range(low: int, high: int | None) -> None:
    if high is None:
        raise NoFormError("calls random_() without an end of its range", remedy=_RANGE)
    if high - low > LARGEST_RANGE:
        raise NoFormError(
            f"draws one of {high - low} integers, from {low} on; it can be one of 2^40 at most",
            remedy="Give the draw a smaller range, or draw its parts one by one.",
        )


def _random_from_in_place(x: Tensor, low: int, high: int | None, **settings: Any) -> Tensor:
    """``from`` is no name in Python, so that no graph can hold a call of this overload."""
    _checked(getattr(_aten.random_, "from"))(x, low, high, **settings)
    return x.copy_(_ranged(x.shape, low, int(high or 0)).to(x.dtype))


def _undefined(name: str, remedy: str) -> Callable[..., Any]:
    def refused(*_args: Any, **_kwargs: Any) -> Any:
        raise NoFormError(f"draws from torch's {name}, for which no draw is defined", remedy=remedy)

    return refused


def _without_range(x: Tensor, **_: Any) -> Any:
    raise NoFormError(
        f"calls random_() without a range, and for {x.dtype} that means nearly all of its numbers", remedy=_RANGE
    )


_RANGE = "Give it a range of at most 2^40 numbers: x.random_(low, high)."
_OUTSIDE = "Draw outside the step, and hand the numbers to it as data."
_AS_DATA = (
    "Draw it with the data: a Dataset or a collate_fn that gives each row its number, with keep='batches', may draw "
    "with anything. Inside a step it is tried until a draw fits, and a program has no such loop."
)
_IN_PLACE = (
    _aten.uniform_.default, _aten.normal_.default, _aten.log_normal_.default, _aten.exponential_.default,
    _aten.random_.to, _aten.bernoulli_.float, _aten.bernoulli_.Tensor,
)  # fmt: skip
TRACED: Mapping[Any, Callable[..., Any]] = {
    **{
        overload: _checked(overload) for overload in (*REPLACED, *_IN_PLACE, _aten.bernoulli.default, _aten.bernoulli.p)
    },
    _aten.random_.default: _without_range,
    getattr(_aten.random_, "from"): _random_from_in_place,
    _aten.poisson.default: _undefined("poisson", _OUTSIDE),
    _aten.binomial.default: _undefined("binomial", _OUTSIDE),
    _aten._standard_gamma.default: _undefined("standard_gamma, as Gamma and StudentT do", _AS_DATA),
    _aten._sample_dirichlet.default: _undefined("sample_dirichlet, as Beta and Dirichlet do", _AS_DATA),
    _aten.cauchy_.default: _undefined("cauchy", "Write torch.tan((torch.rand_like(x) - 0.5) * math.pi)."),
    _aten.geometric_.default: _undefined(
        "geometric", "Write torch.ceil(torch.empty_like(x).exponential_(-math.log1p(-p)))."
    ),
}
"""What becomes of a draw while the step is traced: refusals, and ``NotImplemented`` for what may stay until then."""

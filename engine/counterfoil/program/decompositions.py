"""Operators that capture replaces by others, because what the library makes of them differs between machines.

Three sorts are here. Some decide something discrete in the middle of a computation that may round either way: which
elements linear interpolation reads, on which side of its threshold a softplus lies. Some are exact by their
definition and not in the library: a float ``arange`` adds up from bases that depend on the number of threads. And some
are only other names. Each becomes operators whose results are defined; indices and weights become constants of the
order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.base.errors import ProgramError

_aten = torch.ops.aten


# Ranges.


def _arange(start: float, end: float, step: float, dtype: torch.dtype | None) -> Any:
    """Count in integers, then convert, multiply and add: each is one correctly rounded operation."""
    numbers = (start, end, step)
    if dtype is None:
        dtype = torch.int64 if all(isinstance(number, int) for number in numbers) else torch.get_default_dtype()
    whole = all(float(number).is_integer() for number in numbers)
    if all(isinstance(number, int) for number in numbers) and not dtype.is_floating_point:
        return NotImplemented
    if not whole and not dtype.is_floating_point:
        raise ProgramError(
            f"arange({start}, {end}, {step}) asks for the dtype {dtype}, so its numbers would have to be cut off.",
            remedy="Give it whole numbers.",
        )
    if whole:
        counted = torch.arange(int(start), int(end), int(step))
        return counted if dtype is torch.int64 else counted.to(dtype)
    count = math.ceil((end - start) / step)
    if count < 0:
        raise ValueError(f"arange({start}, {end}, {step}) does not lead from its start to its end")
    values = torch.arange(count).to(dtype)
    if step != 1:
        values = values * step
    return values + start if start else values


def _arange_to(end: float, *, dtype: torch.dtype | None = None, **_: Any) -> Any:
    return _arange(0, end, 1, dtype)


def _arange_from(start: float, end: float, *, dtype: torch.dtype | None = None, **_: Any) -> Any:
    return _arange(start, end, 1, dtype)


def _arange_by(start: float, end: float, step: float = 1, *, dtype: torch.dtype | None = None, **_: Any) -> Any:
    return _arange(start, end, step, dtype)


def _linspace(start: float, end: float, steps: int, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    """Equal parts of an interval, from rational numbers; both ends are exact."""
    first, width = Fraction(start), Fraction(end) - Fraction(start)
    values = [float(first + width * Fraction(i, max(steps - 1, 1))) for i in range(steps)]
    return torch.tensor(values, dtype=dtype or torch.get_default_dtype())


# Interpolation.


@dataclass(frozen=True)
class _Tap:
    """One of the elements that each place along an axis is made from."""

    sources: Sequence[int]  #: For each place of the result, the place that is read.
    weights: Sequence[float] | None  #: For each place of the result, the weight; None where all are 1.

    def index(self) -> Tensor:
        """int64 ``[places]``."""
        return torch.tensor(self.sources)

    def weigh(self, x: Tensor, axis: int) -> Tensor:
        """Multiply each place of ``x`` along ``axis`` with its weight."""
        if self.weights is None:
            return x
        weights = torch.tensor(self.weights, dtype=torch.float32)
        return x * weights.reshape(-1, *(1 for _ in range(x.dim() - axis - 1)))


Taps = Callable[[int, int, float | None], list[_Tap]]
"""The taps along an axis, by its length before and after, and the factor that the caller gave."""


def _ratio(length: int, count: int, factor: float | None, align_corners: bool) -> Fraction:
    """How many elements of the argument there are to one of the result."""
    if align_corners:
        return Fraction(length - 1, count - 1) if count > 1 else Fraction(0)
    return 1 / Fraction(factor) if factor else Fraction(length, count)


def _places(length: int, count: int, factor: float | None, align_corners: bool) -> list[Fraction]:
    """Where each element of the result lies among those of the argument."""
    ratio = _ratio(length, count, factor, align_corners)
    if align_corners:
        return [ratio * i for i in range(count)]
    return [ratio * (i + Fraction(1, 2)) - Fraction(1, 2) for i in range(count)]


def _linear(align_corners: bool) -> Taps:
    """Linear interpolation: the two neighbours of each place, whose position is a rational number."""

    def taps(length: int, count: int, factor: float | None) -> list[_Tap]:
        if length == count:
            return [_Tap(range(count), None)]
        places = [max(place, Fraction(0)) for place in _places(length, count, factor, align_corners)]
        low = [min(math.floor(place), length - 1) for place in places]
        high = [min(i + 1, length - 1) for i in low]
        parts = [place - i for place, i in zip(places, low, strict=True)]
        return [_Tap(low, [float(1 - part) for part in parts]), _Tap(high, [float(part) for part in parts])]

    return taps


_CUBIC, _CUBIC_ANTIALIASED = Fraction(-3, 4), Fraction(-1, 2)
"""The slope of cubic weights one element away, as torch has it."""


def _linear_weight(distance: Fraction) -> Fraction:
    """The weight of an element at a distance."""
    return max(1 - distance, Fraction(0))


def _cubic_weight(distance: Fraction, slope: Fraction = _CUBIC_ANTIALIASED) -> Fraction:
    """The weight of an element at a distance (Keys 1981)."""
    a, d = slope, distance
    if d <= 1:
        return ((a + 2) * d - (a + 3)) * d * d + 1
    return a * (((d - 5) * d + 8) * d - 4) if d < 2 else Fraction(0)


def _cubic(align_corners: bool) -> Taps:
    """Cubic interpolation: four neighbours of each place; those beyond an end are the element at the end."""

    def taps(length: int, count: int, factor: float | None) -> list[_Tap]:
        if length == count:
            return [_Tap(range(count), None)]
        places = _places(length, count, factor, align_corners)
        found = []
        for offset in (-1, 0, 1, 2):
            elements = [math.floor(place) + offset for place in places]
            weights = [
                float(_cubic_weight(abs(place - at), _CUBIC)) for place, at in zip(places, elements, strict=True)
            ]
            found.append(_Tap([min(max(at, 0), length - 1) for at in elements], weights))
        return found

    return taps


def _antialiased(reach: int, weigh: Callable[[Fraction], Fraction]) -> Callable[[bool], Taps]:
    """Interpolation whose weights, where it shrinks, reach over as many more elements as it shrinks by."""

    def kind(align_corners: bool) -> Taps:
        def taps(length: int, count: int, factor: float | None) -> list[_Tap]:
            ratio = _ratio(length, count, factor, align_corners)
            wide = max(ratio, Fraction(1))
            rows = []
            for i in range(count):
                center = ratio * (i + Fraction(1, 2))
                first = max(math.floor(center - reach * wide + Fraction(1, 2)), 0)
                last = min(math.floor(center + reach * wide + Fraction(1, 2)), length)
                weights = {at: weigh(abs(at - center + Fraction(1, 2)) / wide) for at in range(first, last)}
                total = sum(weights.values())
                rows.append([(at, float(weight / total)) for at, weight in weights.items()])
            most = max(map(len, rows))
            filled = [row + [(0, 0.0)] * (most - len(row)) for row in rows]
            return [_Tap(*map(list, zip(*(row[k] for row in filled), strict=True))) for k in range(most)]

        return taps

    return kind


def _nearest(shift: float) -> Taps:
    """The nearest element; its index is float32 arithmetic, as in torch, once and for all machines."""

    def taps(length: int, count: int, factor: float | None) -> list[_Tap]:
        if length == count:
            return [_Tap(range(count), None)]
        ratio = np.float32(1.0 / factor) if factor else np.float32(length) / np.float32(count)
        places = (np.arange(count, dtype=np.float32) + np.float32(shift)) * ratio
        return [_Tap(np.minimum(np.floor(places).astype(np.int64), length - 1).tolist(), None)]

    return taps


def _interpolate(x: Tensor, size: Sequence[int], taps: Taps, factors: Sequence[float | None]) -> Tensor:
    for offset, (count, factor) in enumerate(zip(size, factors, strict=True)):
        axis = x.dim() - len(size) + offset
        parts = [tap.weigh(x.index_select(axis, tap.index()), axis) for tap in taps(x.shape[axis], count, factor)]
        x = sum(parts[1:], parts[0])
    return x


def _interpolate_backward(g: Tensor, lengths: Sequence[int], taps: Taps, factors: Sequence[float | None]) -> Tensor:
    """The transposed map: what an element gave is added to its gradient."""
    for offset, (length, factor) in enumerate(zip(lengths, factors, strict=True)):
        axis = g.dim() - len(lengths) + offset
        shape = [*g.shape[:axis], length, *g.shape[axis + 1 :]]
        total = g.new_zeros(shape)
        for tap in taps(length, g.shape[axis], factor):
            total = total.index_add(axis, tap.index(), tap.weigh(g, axis))
        g = total
    return g


def _interpolations() -> dict[Any, Callable[..., Any]]:
    """Both directions of every interpolation by operator."""

    def padded(factors: Sequence[float | None], axes: int) -> list[float | None]:
        return [*factors, *[None] * (axes - len(factors))]

    def nearest(axes: int, shift: float) -> tuple[Callable[..., Any], Callable[..., Any]]:
        def forward(x: Tensor, size: Sequence[int], *factors: float | None, **named: float | None) -> Tensor:
            return _interpolate(x, size, _nearest(shift), padded([*factors, *named.values()], axes))

        def backward(
            g: Tensor, _size: Any, lengths: Sequence[int], *factors: float | None, **named: float | None
        ) -> Tensor:
            return _interpolate_backward(g, lengths[2:], _nearest(shift), padded([*factors, *named.values()], axes))

        return forward, backward

    def smooth(kind: Callable[[bool], Taps], axes: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
        def forward(
            x: Tensor, size: Sequence[int], align_corners: bool, *factors: float | None, **named: float | None
        ) -> Tensor:
            return _interpolate(x, size, kind(align_corners), padded([*factors, *named.values()], axes))

        def backward(
            g: Tensor,
            _size: Any,
            lengths: Sequence[int],
            align_corners: bool,
            *factors: float | None,
            **named: float | None,
        ) -> Tensor:
            return _interpolate_backward(g, lengths[2:], kind(align_corners), padded([*factors, *named.values()], axes))

        return forward, backward

    pairs = {
        "upsample_linear1d": smooth(_linear, 1),
        "upsample_bilinear2d": smooth(_linear, 2),
        "upsample_trilinear3d": smooth(_linear, 3),
        "upsample_bicubic2d": smooth(_cubic, 2),
        "_upsample_bilinear2d_aa": smooth(_antialiased(1, _linear_weight), 2),
        "_upsample_bicubic2d_aa": smooth(_antialiased(2, _cubic_weight), 2),
        **{f"upsample_nearest{axes}d": nearest(axes, 0.0) for axes in (1, 2, 3)},
        **{f"_upsample_nearest_exact{axes}d": nearest(axes, 0.5) for axes in (1, 2, 3)},
    }
    table: dict[Any, Callable[..., Any]] = {}
    for name, (forward, backward) in pairs.items():
        table[getattr(_aten, name).default] = forward
        table[getattr(_aten, f"{name}_backward").default] = backward
    return table


# Softplus.


def _softplus(x: Tensor, beta: float = 1, threshold: float = 20) -> Any:
    """The threshold is compared with a product that is correctly rounded, so every machine decides alike."""
    if beta == 1:
        return NotImplemented
    scaled = x * beta
    return torch.where(scaled > threshold, x, _aten.softplus(scaled, 1, threshold) / beta)


def _softplus_backward(g: Tensor, x: Tensor, beta: float, threshold: float) -> Any:
    if beta == 1:
        return NotImplemented
    scaled = x * beta
    return torch.where(scaled > threshold, g, _aten.softplus_backward(g, scaled, 1, threshold))


def _floor_divide(x: Tensor, other: Any) -> Tensor:
    return torch.div(x, other, rounding_mode="floor")


def _divide(x: Tensor, other: Any, *, rounding_mode: str | None) -> Any:
    return torch.div(x, other) if rounding_mode is None else NotImplemented


def _sort(x: Tensor, dim: int = -1, descending: bool = False) -> Any:
    return torch.sort(x, stable=True, dim=dim, descending=descending)


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = {
    _aten.arange.default: _arange_to,
    _aten.arange.start: _arange_from,
    _aten.arange.start_step: _arange_by,
    _aten.linspace.default: _linspace,
    _aten.softplus.default: _softplus,
    _aten.softplus_backward.default: _softplus_backward,
    _aten.floor_divide.default: _floor_divide,
    _aten.floor_divide.Scalar: _floor_divide,
    _aten.div.Tensor_mode: _divide,
    _aten.div.Scalar_mode: _divide,
    _aten.sort.default: _sort,
    **_interpolations(),
}
"""What capture puts in place of an operator, in the form that ``make_fx`` takes."""

"""What sums and products of the exact profiles add up: their operands through Q_b, for whoever judges.

``docs/numerics.md``, "Exact profiles": which elements share an exponent E, how many bits b they keep, and that each
becomes the nearest multiple of 2^(E - b), ties to even. Everything here is integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.base.arrays import Array
from counterfoil_core.operators.judging.forms import Arguments, Quantisation
from counterfoil_core.operators.judging.numbers import NotExactError

LEAST_EXPONENT = -148
"""E of zeros, and of the smallest subnormal number: 2^-148 is the least power of two above it."""

_SIGNIFICAND_BITS = 24
_SUM_BITS, _MOST_BITS, _MOST_TERMS = 53, 51, 2**29
_BEYOND = 62
"""Shifted by so many places or more, a number of 24 bits is less than half of one."""


def terms_bits(count: int) -> int:
    """Return b of a sum: 53 - ceil(log2 n), 51 at most.

    Args:
        count: n.

    Raises:
        NotExactError: There are more than 2^29 terms.
    """
    if count > _MOST_TERMS:
        raise NotExactError("it has more terms than are added exactly")
    ceiling = 0
    while 2**ceiling < count:
        ceiling += 1
    return min(_MOST_BITS, _SUM_BITS - ceiling)


def exponents_of(x: Array, axes: Sequence[int]) -> Array:
    """Return E, the smallest integer of -148 or more with 2^E > max|x|, of elements that differ along some axes only.

    Args:
        x: float32.
        axes: The axes.

    Returns:
        int64, of the shape of ``x`` with the length 1 along the axes.

    Raises:
        NotExactError: A value is infinite or not a number.
    """
    if not np.isfinite(x).all():
        raise NotExactError("a value that reaches it is infinite or not a number")
    # x is less than two to the exponent of its fraction in [1/2, 1), and not less than half of that.
    own = np.where(x == 0, LEAST_EXPONENT, np.frexp(x)[1]).astype(np.int64)
    return np.asarray(own.max(tuple(axes), keepdims=True, initial=LEAST_EXPONENT))


def quantised(x: Array, exponents: Array, bits: int) -> Array:
    """Return the nearest multiples of 2^(E - bits), ties to even.

    Args:
        x: float32, less than 2^E in magnitude.
        exponents: E, int64, of a shape that broadcasts.
        bits: b, 51 at most.

    Returns:
        float64, the shape of ``x``: integers of at most 52 bits, times a power of two.
    """
    fractions, own = np.frexp(x)
    integers = np.ldexp(fractions.astype(np.float64), _SIGNIFICAND_BITS).astype(np.int64)
    units = np.broadcast_to(exponents - bits, x.shape)
    # x = integers * 2^(own - 24): that many places of it lie below a unit, or so many less than none.
    below = units - (own.astype(np.int64) - _SIGNIFICAND_BITS)
    cut = np.clip(below, 0, _BEYOND)
    kept = integers >> cut
    # What was cut off is kept * 2^cut less than it was: more than half of a unit goes up, half to what is even.
    left, half = integers - (kept << cut), np.where(cut > 0, np.int64(1) << np.maximum(cut - 1, 0), np.int64(1))
    whole = kept + ((left > half) | ((left == half) & (kept % 2 == 1)))
    return np.asarray(np.ldexp((whole << np.where(below < 0, -below, 0)).astype(np.float64), units))


# Which elements share an exponent, and how many bits they keep.


def array_of(x: Tensor) -> Array:
    """Return the elements of a float32 tensor."""
    array: Array = x.detach().cpu().numpy()
    assert array.dtype == np.float32, "values of the exact profiles are float32"
    return array


def quantise_shared(x: Array, bits: int, axes: Sequence[int] | None = None) -> Tensor:
    """Quantise elements: those that differ along some axes only have one exponent; all have, if none are named."""
    return torch.from_numpy(quantised(x, exponents_of(x, range(x.ndim) if axes is None else axes), bits))


def of_product(*names: str) -> Quantisation:
    """Of a product each operand has one exponent."""

    def rule(arguments: Arguments, bits: int) -> Arguments:
        return {**arguments, **{name: quantise_shared(array_of(arguments[name]), bits) for name in names}}

    return rule


def of_terms(name: str, count: Callable[[Arguments], int]) -> Quantisation:
    """Where terms meet by an index, or windows overlap, all of a tensor have one; n is the most that shapes allow."""

    def rule(arguments: Arguments, bits: int) -> Arguments:
        return {**arguments, name: quantise_shared(array_of(arguments[name]), terms_bits(count(arguments)))}

    return rule

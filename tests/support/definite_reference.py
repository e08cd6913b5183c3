"""Products and sums of the exact profiles by the rules on Python's fractions; and float32 numbers to try them on."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from support import kernelrules as rules

Array = npt.NDArray[Any]


def bits_of(x: Tensor | Array) -> list[int]:
    """The bits of float32 elements: the sign of a zero is one of them."""
    array = x.contiguous().numpy() if isinstance(x, Tensor) else np.ascontiguousarray(x, np.float32)
    return [int(bits) for bits in array.reshape(-1).view(np.uint32)]


def same_bits(x: Tensor, y: Tensor) -> bool:
    return x.shape == y.shape and x.dtype == y.dtype == torch.float32 and bits_of(x) == bits_of(y)


def quantised(value: float, e: int, bits: int) -> Fraction:
    """The multiple of 2^(e - bits) that Q_b makes of a number."""
    return rules.quantised(float(value), e, bits) * rules.power(e - bits)


def matmul(a: Array, b: Array, bits: int) -> Array:
    """The defined product of two matrices."""
    of_a, of_b = rules.shared_exponent(a.reshape(-1).tolist()), rules.shared_exponent(b.reshape(-1).tolist())
    left = [[quantised(v, of_a, bits) for v in row] for row in a.tolist()]
    right = [[quantised(v, of_b, bits) for v in column] for column in b.T.tolist()]
    return np.array(
        [[rules.single(sum((p * q for p, q in zip(r, c, strict=True)), Fraction(0))) for c in right] for r in left],
        np.float32,
    ).reshape(a.shape[0], b.shape[1])


def total(values: Iterable[float], bits: int, e: int | None = None) -> float:
    """The defined sum of terms, of an exponent of their own if none is given."""
    terms = list(map(float, values))
    shared = rules.shared_exponent(terms) if e is None else e
    return rules.single(sum((quantised(v, shared, bits) for v in terms), Fraction(0)))


def wild(shape: tuple[int, ...], seed: int, low: int = -30, high: int = 30) -> Tensor:
    """Float32 numbers over many powers of two, with zeros of both signs."""
    generator = np.random.default_rng(seed)
    values = np.ldexp(generator.uniform(-2, 2, shape), generator.integers(low, high, shape)).astype(np.float32)
    values[generator.random(shape) < 0.05] = 0.0
    values[generator.random(shape) < 0.05] = -0.0
    return torch.from_numpy(values)

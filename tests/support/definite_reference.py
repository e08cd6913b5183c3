"""The definitions of the exact profiles again, in Python's integers and fractions, element by element."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil.operators.judging.ieee import rounded

Array = npt.NDArray[Any]


def bits_of(x: Tensor | Array) -> list[int]:
    """The bits of float32 elements: the sign of a zero is one of them."""
    array = x.contiguous().numpy() if isinstance(x, Tensor) else np.ascontiguousarray(x, np.float32)
    return [int(bits) for bits in array.reshape(-1).view(np.uint32)]


def same_bits(x: Tensor, y: Tensor) -> bool:
    return x.shape == y.shape and x.dtype == y.dtype == torch.float32 and bits_of(x) == bits_of(y)


def exponent(values: Iterable[float]) -> int:
    """The smallest E of -148 or more with 2^E > max|x|, by trying."""
    largest = max((abs(Fraction(float(v))) for v in values), default=Fraction(0))
    e = -148
    while Fraction(2) ** e <= largest:
        e += 1
    return e


def quantised(value: float, e: int, bits: int) -> Fraction:
    """The nearest multiple of 2^(e - bits); Python rounds ties of fractions to even."""
    unit = Fraction(2) ** (e - bits)
    return round(Fraction(float(value)) / unit) * unit


def single(value: Fraction) -> float:
    """One rounding to float32; a zero is +0."""
    return rounded(value, "float32") + 0.0


def matmul(a: Array, b: Array, bits: int, by_vector: bool = False) -> Array:
    """The defined product of two matrices."""
    rows = [exponent(a[i] if by_vector else a.reshape(-1)) for i in range(a.shape[0])]
    columns = [exponent(b[:, j] if by_vector else b.reshape(-1)) for j in range(b.shape[1])]
    left = [[quantised(v, e, bits) for v in row] for row, e in zip(a.tolist(), rows, strict=True)]
    right = [[quantised(v, e, bits) for v in column] for column, e in zip(b.T.tolist(), columns, strict=True)]
    return np.array(
        [[single(sum((p * q for p, q in zip(r, c, strict=True)), Fraction(0))) for c in right] for r in left],
        np.float32,
    ).reshape(a.shape[0], b.shape[1])


def total(values: Iterable[float], bits: int, e: int | None = None) -> float:
    """The defined sum of terms, of an exponent of their own if none is given."""
    terms = list(values)
    shared = exponent(terms) if e is None else e
    return single(sum((quantised(v, shared, bits) for v in terms), Fraction(0)))


def wild(shape: tuple[int, ...], seed: int, low: int = -30, high: int = 30) -> Tensor:
    """Float32 numbers over many powers of two, with zeros of both signs."""
    generator = np.random.default_rng(seed)
    values = np.ldexp(generator.uniform(-2, 2, shape), generator.integers(low, high, shape)).astype(np.float32)
    values[generator.random(shape) < 0.05] = 0.0
    values[generator.random(shape) < 0.05] = -0.0
    return torch.from_numpy(values)

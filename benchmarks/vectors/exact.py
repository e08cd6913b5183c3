"""Vectors of what the exact profiles compute: quantisation, products, sums, functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil_core.base import canonical
from counterfoil_core.kernels.cpu.philox import uniform
from counterfoil_core.kernels.exact import functions, products, sums
from counterfoil_core.kernels.exact.limits import sum_bits
from counterfoil_core.kernels.exact.quantise import quantise

Array = npt.NDArray[Any]
_TINY, _HUGE = 2.0**-149, math.ldexp(2 - 2.0**-23, 127)
_FUNCTIONS: dict[str, Sequence[float]] = {
    # Values that lie so close to a midpoint that float64 does not tell on which side, and ends of the range.
    "exp": (0.0, 1.0, -0.5, 2.0**-24, -(2.0**-25), -103.5, -104.0, 88.5, -math.inf),
    "log": (1.0, 0.5, 3.0, _TINY, _HUGE, math.inf),
    "sqrt": (0.0, 2.0, 1 + 2.0**-23, _TINY, _HUGE),
    "rsqrt": (1.0, 2.0, 1 - 2.0**-23, _TINY, _HUGE),
    "reciprocal": (3.0, 1 - 2.0**-24, -_HUGE, 2.0**-127),
    "tanh": (0.0, 0.25, -1.0, 1e-10, 20.0, math.inf),
    "sigmoid": (0.0, 2.0**-23, -(2.0**-24), 3 * 2.0**-23, -103.5, 30.0),
    "expm1": (0.0, 2.0**-30, -1.0, 5.0, -100.0),
    "log1p": (0.0, 2.0**-30, -0.5, _HUGE),
}


def exact_operations() -> dict[str, Any]:
    """Single operations and their defined results, float32."""
    return {
        "quantised": [_quantised(values, bits) for values in _operands() for bits in (8, 13, 20, 24)],
        "products": [_product(shape, bits) for shape in ((2, 3, 2), (3, 17, 2), (1, 65, 1)) for bits in (13, 20)],
        "sums": [_sum(values) for values in (*_operands(), np.empty(0, np.float32), _drawn((70,), 7))],
        "functions": [
            {"kind": kind, "arguments": _texts(values), "values": _texts(_function(kind, values))}
            for kind, values in _FUNCTIONS.items()
        ],
    }


def _operands() -> list[Array]:
    """Ties, the carry to 2^b, both zeros, subnormal numbers, the ends of the range, and numbers of many magnitudes."""
    ties = [1.0, -0.75, 2.0**-8, 3 * 2.0**-14, -(2.0**-14), 2.0**-21, -3 * 2.0**-21, 5 * 2.0**-25]
    carry = [1 - 2.0**-24, -(1 - 2.0**-9), 0.5, -0.0]
    small = [_TINY, -3 * _TINY, 2.0**-126, 0.0, -0.0]
    large = [_HUGE, -_HUGE, 2.0**120, -1.0]
    return [np.array(values, np.float32) for values in (ties, carry, small, large, [0.0, -0.0])] + [_drawn((12,), 6)]


def _drawn(shape: tuple[int, ...], number: int) -> Array:
    """Numbers of both signs over several powers of two, from Philox."""
    first, second = (
        uniform(shape, seed=2026, step=1, draw=2 * number + n, dtype=torch.float32, device="cpu") for n in (0, 1)
    )
    scaled: Array = ((first * 2 - 1) * torch.exp2((second * 16).floor() - 8)).numpy()
    return scaled


def _quantised(values: Array, bits: int) -> dict[str, Any]:
    found = quantise(torch.from_numpy(values), bits)
    return {
        "values": _texts(values),
        "bits": bits,
        "unit": int(found.unit),
        "integers": found.integers.tolist(),
    }


def _product(shape: tuple[int, int, int], bits: int) -> dict[str, Any]:
    rows, inner, columns = shape
    left, right = _drawn((rows, inner), inner), _drawn((inner, columns), inner + 1)
    found = products.matmul(torch.from_numpy(left), torch.from_numpy(right), bits)
    return {"shape": list(shape), "bits": bits, "left": _texts(left), "right": _texts(right), "product": _texts(found)}


def _sum(values: Array) -> dict[str, Any]:
    total = sums.total(torch.from_numpy(values))
    return {"values": _texts(values), "bits": sum_bits(len(values)), "sum": _texts(total[None])[0]}


def _function(kind: str, values: Sequence[float]) -> Tensor:
    return functions.evaluate(kind, torch.tensor(values, dtype=torch.float32))


def _texts(values: Array | Tensor | Sequence[float]) -> list[str]:
    return [canonical.float_text(float(np.float32(value))) for value in np.asarray(values).reshape(-1)]

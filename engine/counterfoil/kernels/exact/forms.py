"""Which forms of a product a machine computes rightly: every one is asked for known answers before it is used."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from counterfoil.kernels.exact import device_products, fused
from counterfoil.kernels.exact.products import Form, exact_sums, operands
from counterfoil.kernels.exact.quantise import Quantised
from counterfoil.kernels.exact.single import from_int64

_ROWS, _INNER, _COLUMNS = 33, 4099, 17
"""Odd lengths, beyond the tiles of libraries and the blocks of float32."""
_BITS = 20
_MOST_NEGATIVE = -(64 + 64 * 128 + 63 * 128**2)
_MOST_POSITIVE = 63 + 63 * 128 + 63 * 128**2
"""Integers of 20 bits whose three digits are as large as they can be, so that what saturates does."""


@cache
def sound_forms(device: str) -> frozenset[Form]:
    """Return the forms that give the known answers on a device.

    An operator that this version of torch or the device lacks, or that computes wrongly, is left out: also float64,
    without which nothing can be computed. Known answers are added in int64 by operators that multiply no matrices.

    Args:
        device: Its name, for instance ``cpu``.
    """
    cases = [(a, b, _answer(a, b)) for a, b in _cases(torch.device(device))]
    return frozenset(form for form in Form if _is_sound(form, cases))


@dataclass(frozen=True)
class Profile:
    """An exact profile on one machine.

    Attributes:
        bits: S.
        matrices: Form of products of two matrices.
        batches: Form of products of batches.
        kernels: Form of convolutions and their gradients.
    """

    bits: int
    matrices: Form = Form.FLOAT64
    batches: Form = Form.FLOAT64
    kernels: Form = Form.FLOAT64

    @classmethod
    def on(cls, device: torch.device, bits: int) -> Profile:
        """Choose forms that give the known answers on a device; the results do not depend on the choice."""
        sound = sound_forms(str(device))
        fast = Form.KARATSUBA if Form.KARATSUBA in sound else Form.FLOAT64
        return cls(bits, matrices=fast, batches=Form.FLOAT64, kernels=fast)


def _is_sound(form: Form, cases: list[tuple[Tensor, Tensor, Tensor]]) -> bool:
    try:
        return all(torch.equal(exact_sums(_whole(a), _whole(b), form), answer) for a, b, answer in cases) and (
            form is not Form.KARATSUBA or all(_kernels_agree(a, b) for a, b, _ in cases)
        )
    except (RuntimeError, AttributeError):
        # No kernel for this device or processor; no such operator in this version of torch.
        return False


def _kernels_agree(a: Tensor, b: Tensor) -> bool:
    """Whether the kernels for this device give them too, with transposed operands as well, if there are any."""
    left, right = a.to(torch.float32), b.to(torch.float32)
    if fused.takes(left, right, _BITS):
        matmul = fused.matmul
    elif device_products.takes(left, right):
        matmul = device_products.matmul
    else:
        return True
    ours = operands(left, right, _BITS)
    expected = from_int64(_answer(*(q.integers.to(torch.int64) for q in ours)), ours[0].unit + ours[1].unit)
    turned = right.t().contiguous().t()
    return all(torch.equal(matmul(left, other, _BITS), expected) for other in (right, turned))


def _cases(device: torch.device) -> list[tuple[Tensor, Tensor]]:
    """Pairs of int64 matrices: pseudo-random ones, the largest digits of equal and of opposite sign, and a single row.

    The row is a transposed column, whose strides are 1 and 1: a library may take the first for the length of a row.
    """
    left, right = _ROWS * _INNER, _INNER * _COLUMNS
    count = torch.arange(left + right, device=device)
    # The high bits of a linear congruential generator's numbers (Knuth's MMIX), wrapped to int64.
    drawn = ((count * 6364136223846793005 + 1442695040888963407) >> 40) % (2 << _BITS) - (1 << _BITS)
    a, b = drawn[:left].view(_ROWS, _INNER), drawn[left:].view(_INNER, _COLUMNS)
    low_a, low_b = (torch.full_like(x, _MOST_NEGATIVE) for x in (a, b))
    high_a, high_b = (torch.full_like(x, _MOST_POSITIVE) for x in (a, b))
    column = torch.empty_strided((_INNER, 1), (1, 1), dtype=torch.int64, device=device).copy_(a[:1].t())
    return [(a, b), (low_a, low_b), (high_a, high_b), (low_a, high_b), (column.t(), b)]


def _whole(integers: Tensor) -> Quantised:
    """Integers as if Q_20 had made them, in units of one."""
    exponent = torch.full((1, 1), _BITS, dtype=torch.int64, device=integers.device)
    return Quantised(integers.to(torch.float64), exponent, _BITS)


def _answer(a: Tensor, b: Tensor) -> Tensor:
    return torch.stack([(row[:, None] * b).sum(0) for row in a])

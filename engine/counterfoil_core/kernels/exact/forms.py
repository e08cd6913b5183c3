"""Which forms of a product a machine computes rightly: every one is asked for known answers before it is used."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from counterfoil_core.base.trouble import raise_shortage
from counterfoil_core.kernels.exact import device_products
from counterfoil_core.kernels.exact.int8 import is_quick
from counterfoil_core.kernels.exact.int16_matrices import MOST_BITS
from counterfoil_core.kernels.exact.products import Form, exact_sums, matmul, operands
from counterfoil_core.kernels.exact.quantise import Quantised
from counterfoil_core.kernels.exact.single import from_int64

_LOG = logging.getLogger("counterfoil")
_ROWS, _INNER, _COLUMNS = 33, 4099, 17
"""Odd lengths, beyond the tiles of libraries and the blocks of float32."""
_BITS = 20
_MOST_NEGATIVE = -(64 + 64 * 128 + 63 * 128**2)
_MOST_POSITIVE = 63 + 63 * 128 + 63 * 128**2
"""Integers of 20 bits whose three digits are as large as they can be, so that what saturates does."""
_ODD_BYTES = 127 + 127 * 256
"""Its digits are bytes with odd products, whose sums lose a unit where a carrier holds fewer bits than it should."""
_OPPOSITE = -(1 << _BITS) + 256, 1 << (_BITS - 1)
_AS_MANY = 516
"""So many squares of that are as much as the product of these two, which has other places: of what is left a unit
shows."""


def sound_forms(device: str) -> frozenset[Form]:
    """Return the forms that give the known answers on a device.

    Args:
        device: Its name, for instance ``cpu``.
    """
    return frozenset(form for form in Form if is_sound(device, form))


@cache
def is_sound(device: str, form: Form) -> bool:
    """Return whether a form gives the known answers on a device.

    It does not if this version of torch or the device lacks an operator, or computes wrongly. Known answers are added
    in int64 by operators that multiply no matrices. A form that nobody asks for takes no time.

    Args:
        device: Its name, for instance ``cpu``.
        form: The form; without float64 nothing can be computed.

    Raises:
        MemoryShortageError: There is no memory left, which says nothing of the form: it is asked again.
    """
    if form is Form.TENSOR_CORES and not device_products.reaches(torch.device(device)):
        return False
    cases = [(a, b, _answer(a, b)) for a, b in _cases(torch.device(device))]
    try:
        return (
            form is Form.TENSOR_CORES
            or all(torch.equal(exact_sums(_whole(a), _whole(b), form), answer) for a, b, answer in cases)
        ) and (form not in _BITS_OF_KERNELS or all(_kernels_agree(form, a, b) for a, b, _ in cases))
    except Exception as error:
        raise_shortage(error)
        # No kernel for this device or processor; no such operator in this version of torch; no compiler. What libraries
        # raise there is anybody's guess.
        _LOG.info("no products in the form %s on %s: %r", form.value, device, error)
        return False


@dataclass(frozen=True)
class Profile:
    """An exact profile on one machine."""

    bits: int  #: S.
    matrices: Form = Form.FLOAT64  #: Form of products of two matrices.
    batches: Form = Form.FLOAT64  #: Form of products of batches.
    kernels: Form = Form.FLOAT64  #: Form of convolutions and their gradients.

    @classmethod
    def on(cls, device: torch.device, bits: int) -> Profile:
        """Choose quick forms that give the known answers on a device; the results do not depend on the choice.

        Which are quick follows from what the device has and from S: nothing is measured.
        """
        name = str(device)
        if bits <= device_products.MOST_BITS and is_sound(name, Form.TENSOR_CORES):
            return cls(bits, Form.TENSOR_CORES, Form.TENSOR_CORES, Form.TENSOR_CORES)
        if is_quick(device) and is_sound(name, Form.KARATSUBA):
            return cls(bits, matrices=Form.KARATSUBA, kernels=Form.KARATSUBA)
        if device.type == "cpu" and bits <= MOST_BITS and is_sound(name, Form.INT16):
            return cls(bits, matrices=Form.INT16, batches=Form.INT16)
        return cls(bits)


_BITS_OF_KERNELS: Mapping[Form, tuple[int, ...]] = {
    Form.KARATSUBA: (_BITS,), Form.INT16: (13, MOST_BITS), Form.TENSOR_CORES: (13, _BITS, device_products.MOST_BITS),
}  # fmt: skip
"""Forms that have kernels of their own, and the S that these are asked for."""


def _kernels_agree(form: Form, a: Tensor, b: Tensor) -> bool:
    """Whether the kernels for this device give the answers too, with transposed operands as well."""
    left, right = a.to(torch.float32), b.to(torch.float32)
    turned = right.t().contiguous().t()
    for bits in _BITS_OF_KERNELS[form]:
        ours = operands(left, right, bits)
        expected = from_int64(_answer(*(q.integers.to(torch.int64) for q in ours)), ours[0].unit + ours[1].unit)
        if not all(torch.equal(matmul(left, other, bits, form), expected) for other in (right, turned)):
            return False
    return True


def _cases(device: torch.device) -> list[tuple[Tensor, Tensor]]:
    """Pairs of int64 matrices: pseudo-random ones, the largest digits and the largest integers, and a single row.

    The row is a transposed column, whose strides are 1 and 1: a library may take the first for the length of a row.
    """
    left, right = _ROWS * _INNER, _INNER * _COLUMNS
    count = torch.arange(left + right, device=device)
    # The high bits of a linear congruential generator's numbers (Knuth's MMIX), wrapped to int64.
    drawn = ((count * 6364136223846793005 + 1442695040888963407) >> 40) % (2 << _BITS) - (1 << _BITS)
    a, b = drawn[:left].view(_ROWS, _INNER), drawn[left:].view(_INNER, _COLUMNS)
    most_a, most_b = (torch.full_like(x, (1 << _BITS) - 1) for x in (a, b))
    low_a, low_b = (torch.full_like(x, _MOST_NEGATIVE) for x in (a, b))
    high_a, high_b = (torch.full_like(x, _MOST_POSITIVE) for x in (a, b))
    odd_a, odd_b = (torch.full_like(x, _ODD_BYTES) for x in (a, b))
    odd_a[:, _AS_MANY :: _AS_MANY + 1], odd_b[_AS_MANY :: _AS_MANY + 1] = _OPPOSITE
    column = torch.empty_strided((_INNER, 1), (1, 1), dtype=torch.int64, device=device).copy_(a[:1].t())
    full = [(low_a, low_b), (high_a, high_b), (low_a, high_b), (most_a, most_b), (odd_a, odd_b)]
    return [(a, b), *full, (column.t(), b)]


def _whole(integers: Tensor) -> Quantised:
    """Integers as if Q_20 had made them, in units of one."""
    exponent = torch.full((1, 1), _BITS, dtype=torch.int64, device=integers.device)
    return Quantised(integers.to(torch.float64), exponent, _BITS)


def _answer(a: Tensor, b: Tensor) -> Tensor:
    return torch.stack([(row[:, None] * b).sum(0) for row in a])

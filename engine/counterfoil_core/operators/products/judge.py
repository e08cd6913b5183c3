"""Products of matrices and vectors: exact inner products."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from counterfoil_core.operators.judging.forms import Arguments, Call, ExactOutput, Judge
from counterfoil_core.operators.judging.numbers import Fixed, Number, fixed_point, number
from counterfoil_core.operators.judging.quantisation import array_of, of_product, quantise_shared

JUDGE = Judge()

_FACTORS = {
    "mm": ("self", "mat2", ""),
    "addmm": ("mat1", "mat2", "self"),
    "mv": ("self", "vec", ""),
    "addmv": ("mat", "vec", "self"),
    "dot": ("self", "tensor", ""),
    "bmm": ("self", "mat2", ""),
    "baddbmm": ("batch1", "batch2", "self"),
}
"""Names of both factors and of the summand."""


@JUDGE.exact_form(*_FACTORS)
def _matrix_product(call: Call) -> ExactOutput:
    first, second, summand = _FACTORS[call.kind]
    left, right = call[first], call[second]
    left = left[None, None] if left.ndim == 1 else left.reshape(math.prod(left.shape[:-2]), *left.shape[-2:])
    right = right[None, :, None] if right.ndim == 1 else right.reshape(math.prod(right.shape[:-2]), *right.shape[-2:])
    alpha, beta = number(call.get("alpha", 1)), number(call.get("beta", 1))
    added = np.broadcast_to(call[summand], call.shape) if summand and beta != 0 else None
    places = (left.shape[0], left.shape[1], right.shape[2])

    @cache
    def row(batch: int, index: int) -> Fixed:
        return fixed_point(left[batch, index])

    @cache
    def column(batch: int, index: int) -> Fixed:
        return fixed_point(right[batch, :, index])

    def element(index: int) -> Number:
        batch, i, j = (int(n) for n in np.unravel_index(index, places))
        inner = row(batch, i).dot(column(batch, j))
        if not summand:
            return inner
        return inner * alpha if added is None else inner * alpha + number(added[call.place(index)]) * beta

    return ExactOutput(element, left.shape[2] + 1)


JUDGE.quantised("mm")(of_product("self", "mat2"))
JUDGE.quantised("mv")(of_product("self", "vec"))
JUDGE.quantised("dot")(of_product("self", "tensor"))


@JUDGE.quantised("bmm")
def _batched(arguments: Arguments, bits: int) -> Arguments:
    """In a batch each matrix has its own."""
    return {
        **arguments,
        **{name: quantise_shared(array_of(arguments[name]), bits, (1, 2)) for name in ("self", "mat2")},
    }

"""Functions: the correctly rounded float32 of the true value.

The library computes in float64, which errs by a few units in its last place. Where rounding the ends of that error to
float32 gives one number, it is the correctly rounded one, since rounding is monotonic. Elsewhere, about once in two
million values, exact arithmetic decides (:mod:`counterfoil.definite.truth`). So no bit of the library's result shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import Tensor

from counterfoil.definite.bracket import bracketed
from counterfoil.definite.truth import correctly_rounded

ERROR = 2.0**-46
"""Largest relative error of a float64 function that is allowed for: 64 units of 2^-52. Documented are 1 to 1.5 units
(SLEEF), less than one (MKL), at most 5 (CUDA), and a few in glibc's list of known errors."""

_LIBRARY: Mapping[str, Callable[..., Tensor]] = {
    "exp": torch.exp,
    "exp2": torch.exp2,
    "expm1": torch.expm1,
    "log": torch.log,
    "log2": torch.log2,
    "log10": torch.log10,
    "log1p": torch.log1p,
    "sin": torch.sin,
    "cos": torch.cos,
    "tan": torch.tan,
    "asin": torch.asin,
    "acos": torch.acos,
    "atan": torch.atan,
    "sinh": torch.sinh,
    "cosh": torch.cosh,
    "tanh": torch.tanh,
    "asinh": torch.asinh,
    "acosh": torch.acosh,
    "atanh": torch.atanh,
    "erf": torch.erf,
    "erfc": torch.erfc,
    "sigmoid": torch.sigmoid,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "reciprocal": torch.reciprocal,
    "pow": torch.pow,
    "atan2": torch.atan2,
    "xlogy": torch.xlogy,
}
FUNCTIONS = frozenset(_LIBRARY)
"""Operator kinds that are functions."""


def operand_names(kind: str) -> tuple[str, ...]:
    """Return the names of the arguments that are the operands of a function."""
    return {"pow": ("self", "exponent"), "atan2": ("self", "other"), "xlogy": ("self", "other")}.get(kind, ("self",))


def evaluate(kind: str, *operands: Tensor | float) -> Tensor:
    """Return the correctly rounded value of a function of one or two arguments.

    Args:
        kind: One of FUNCTIONS: the name of the ATen operator.
        operands: float32 tensors, which are broadcast; numbers take the nearest float32 value.

    Returns:
        float32: every zero +0; infinities and NaN where the function has them, for the caller to allow or refuse.
    """
    return round_function(kind, *approximated(kind, *operands))


def approximated(kind: str, *operands: Tensor | float) -> tuple[tuple[Tensor, ...], Tensor]:
    """Return what the library computes in float64; the arguments are those of :func:`evaluate`.

    Returns:
        The operands, float32, broadcast to one shape; and the library's values, float64, off by at most ERROR.
    """
    device = next(operand.device for operand in operands if isinstance(operand, Tensor))
    given = [
        operand if isinstance(operand, Tensor) else torch.full((), operand, dtype=torch.float32, device=device)
        for operand in operands
    ]
    assert all(tensor.dtype == torch.float32 for tensor in given), "values of the exact profiles are float32"
    approximate = _LIBRARY[kind](*(tensor.to(torch.float64) for tensor in given))
    return tuple(tensor.expand(approximate.shape) for tensor in given), approximate


def round_function(kind: str, operands: tuple[Tensor, ...], approximate: Tensor) -> Tensor:
    """Round float64 values of a function as if they were the true ones.

    Args:
        kind: One of FUNCTIONS.
        operands: float32 tensors of the shape of ``approximate``.
        approximate: float64, off by at most ERROR relatively.

    Returns:
        float32.
    """
    result, doubtful = bracketed(approximate, ERROR)
    if len(doubtful):
        chosen = [operand.reshape(-1)[doubtful].cpu().numpy() for operand in operands]
        # Tensors may hold the same number a million times.
        different, places = np.unique(np.stack(chosen).view(np.uint32), axis=1, return_inverse=True)
        values = np.array(
            [correctly_rounded(kind, *map(float, column.view(np.float32))) for column in different.T.copy()],
            np.float32,
        )
        result.view(-1)[doubtful] = torch.from_numpy(values[places.reshape(-1)]).to(result.device)
    return result

"""Functions: the correctly rounded float32 of the true value.

The library computes in float64, which errs by a few units in its last place. Where rounding the ends of that error to
float32 gives one number, it is the correctly rounded one, since rounding is monotonic. Elsewhere, about once in two
million values, exact arithmetic decides (:mod:`counterfoil_core.kernels.exact.truth`). So no bit of the library's
result shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil_core.base.cancel import check_cancelled
from counterfoil_core.kernels import buffers, devices
from counterfoil_core.kernels.exact.bracket import bracketed, bracketed_into, square_roots
from counterfoil_core.kernels.exact.elementwise import number
from counterfoil_core.kernels.exact.single import from_float64
from counterfoil_core.kernels.exact.truth import correctly_rounded
from counterfoil_core.kernels.threads import in_parts

ERROR = 2.0**-46
"""Largest relative error of a float64 function that is allowed for: 64 units of 2^-52. Documented are 1 to 1.5 units
(SLEEF), less than one (MKL), at most 5 (CUDA), and a few in glibc's list of known errors."""

_PIECE = 1 << 14
"""Elements that are evaluated at once."""

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


def _in_float64(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda x: from_float64(function(x.to(torch.float64)))


def _inverse_root(x: Tensor) -> Tensor:
    """Return 1 / sqrt(x), correctly rounded: between two float32 numbers their midpoint m decides, as m^2 x < 1 says.

    m has 25 bits, its square 50. Cut in parts of 26 and 24 bits, these times x, of 24 bits, are exact; so is the first
    less 1, which it is near; and the sign of the sum is right. It is not zero, for the last bit of m is set.
    """
    wide = x.to(torch.float64)
    found = torch.rsqrt(wide)
    below, above = from_float64(found * (1 - ERROR)), from_float64(found * (1 + ERROR))
    middle = (below.to(torch.float64) + above.to(torch.float64)) * 0.5
    square = middle * middle
    upper = (square.view(torch.int64) >> 27 << 27).view(torch.float64)
    is_less = (upper * wide - 1.0) + (square - upper) * wide < 0
    return torch.where(is_less, above, below)


_SURE: Mapping[str, Callable[[Tensor], Tensor]] = {
    "sqrt": _in_float64(torch.sqrt),
    "reciprocal": _in_float64(torch.reciprocal),
    "rsqrt": _inverse_root,
}
"""Functions that need no exact arithmetic where a device would have to be waited for. A root or a reciprocal lies 2^-51
of itself away from every midpoint at least, and IEEE 754 has float64's within 2^-53."""
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
    given = _tensors(operands)
    if not devices.loops_reach(given[0].device):
        if kind in _SURE:
            return _sure_there(kind, given[0])
        return round_function(kind, *approximate(kind, *operands))
    if kind == "sqrt":
        return square_roots(given[0])
    # torch has the same without types.
    shape = torch.Size(np.broadcast_shapes(*(tuple(tensor.shape) for tensor in given)))
    result = buffers.empty(shape, dtype=torch.float32)
    _evaluate(kind, [_flat(tensor, shape) for tensor in given], result.view(-1))
    return result


def _sure_there(kind: str, x: Tensor) -> Tensor:
    """Return a function that needs no exact arithmetic on a device."""
    if not devices.triton_reaches(x.device) or not x.numel():
        return _SURE[kind](x)
    from counterfoil_core.kernels.cuda import exact

    return exact.sure(kind, x)


def _tensors(operands: Sequence[Tensor | float]) -> list[Tensor]:
    device = next(operand.device for operand in operands if isinstance(operand, Tensor))
    given = [operand if isinstance(operand, Tensor) else number(operand, device) for operand in operands]
    assert all(tensor.dtype == torch.float32 for tensor in given), "values of the exact profiles are float32"
    return given


def _flat(x: Tensor, shape: torch.Size) -> Tensor:
    """A tensor broadcast and flat; of a single number nothing is copied."""
    return x.reshape(1).expand(shape.numel()) if x.numel() == 1 else x.expand(shape).reshape(-1)


def _evaluate(kind: str, operands: Sequence[Tensor], result: Tensor) -> None:
    """Evaluate a function a piece at a time, so that what float64 takes stays in the processor's cache."""
    parts = in_parts(result.numel(), lambda start, end: _evaluate_part(kind, operands, result, start, end))
    doubtful = np.concatenate([found for part in parts for found in part] or [np.empty(0, np.int64)])
    if len(doubtful):
        _decide(kind, operands, result, torch.from_numpy(doubtful))


def _evaluate_part(
    kind: str, operands: Sequence[Tensor], result: Tensor, first: int, last: int
) -> list[npt.NDArray[np.int64]]:
    """Evaluate elements of a range; returns the doubtful places of its pieces."""
    function = _LIBRARY[kind]
    wide = [torch.empty(min(_PIECE, last - first), dtype=torch.float64) for _ in range(len(operands) + 1)]
    doubtful = []
    for start in range(first, last, _PIECE):
        end = min(start + _PIECE, last)
        *given, approximate = (buffer[: end - start] for buffer in wide)
        for buffer, operand in zip(given, operands, strict=True):
            buffer.copy_(operand[start:end])
        function(*given, out=approximate)
        found = bracketed_into(approximate, ERROR, result[start:end])
        if len(found):
            doubtful.append(found + start)
    return doubtful


def approximate(kind: str, *operands: Tensor | float) -> tuple[tuple[Tensor, ...], Tensor]:
    """Return what the library computes in float64; the arguments are those of :func:`evaluate`.

    Returns:
        The operands, float32, broadcast to one shape; and the library's values, float64, off by at most ERROR.
    """
    given = _tensors(operands)
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
        _decide(kind, [operand.reshape(-1) for operand in operands], result.view(-1), doubtful)
    return result


def _decide(kind: str, operands: Sequence[Tensor], result: Tensor, doubtful: Tensor) -> None:
    """Put the correctly rounded values in the doubtful places; operands and result are ``[n]``."""
    chosen = [operand[doubtful].cpu().numpy() for operand in operands]
    # Tensors may hold the same number a million times.
    different, places = np.unique(np.stack(chosen).view(np.uint32), axis=1, return_inverse=True)
    values = np.empty(different.shape[1], np.float32)
    for i, column in enumerate(different.T.copy()):
        # Rare by chance; but whoever chooses the operands of a power can make every value doubtful.
        check_cancelled()
        values[i] = correctly_rounded(kind, *map(float, column.view(np.float32)))
    result[doubtful] = torch.from_numpy(values[places.reshape(-1)]).to(result.device)

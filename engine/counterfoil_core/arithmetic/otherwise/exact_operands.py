"""The operands of sums and products through Q_b, for the imitations of other machines.

What an imitated machine computes with. Neither what this machine quantises with nor what judges it: numpy divides by
the unit and rounds, where :mod:`counterfoil_core.kernels.exact.quantise` adds a large number, and integers are cut in
:mod:`counterfoil_core.operators.judging.quantisation`. An imitation that shared code with either would confirm its
mistakes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.base.arrays import Array
from counterfoil_core.kernels.exact.refusals import not_finite

Arguments = dict[str, Any]
_LEAST_EXPONENT = -148
"""E of zeros, and of the smallest subnormal number. Where zeros share E with others, theirs has to be the least."""


def quantised_arguments(kind: str, arguments: Arguments, bits: int) -> Arguments:
    """Return the arguments of a sum or of a product as quantisation leaves them.

    Exact arithmetic with these, and one rounding to float32, gives the defined output.

    Args:
        kind: One of QUANTISED_KINDS.
        arguments: Its arguments by name, floating-point tensors float32.
        bits: S.

    Returns:
        The same, what is added or multiplied in float64, on the CPU.

    Raises:
        NonFiniteError: A value is infinite or not a number.
    """
    return _QUANTISED[kind](arguments, bits)


def exponent_of(x: Array) -> int:
    """Return E: the smallest integer of -148 or more with ``2^E > max|x|``, so -148 where all is zero."""
    largest = float(np.abs(x).max()) if x.size else 0.0
    return math.frexp(largest)[1] if largest else _LEAST_EXPONENT


def _bits_of_terms(count: int) -> int:
    """Return b of a sum of so many terms: their magnitudes, of 2^b units at most, add up to 2^53 units at most."""
    return min(51, 53 - math.ceil(math.log2(max(count, 1))))


def quantised(x: Array, exponent: int | Array, bits: int) -> Array:
    """Return the nearest multiples of ``2^(exponent - bits)``, ties to even.

    Args:
        x: float32 or float64, any shape, finite, less than ``2^exponent`` in magnitude.
        exponent: E, or one for each element, in a shape that broadcasts.
        bits: b, 51 at most.

    Returns:
        float64, the same shape. Both scalings by a power of two are exact.
    """
    return np.asarray(np.ldexp(np.rint(np.ldexp(x.astype(np.float64), bits - exponent)), exponent - bits))


# Which elements share an exponent, and how many bits they keep.


def _array(x: Tensor) -> Array:
    array: Array = x.detach().cpu().numpy()
    return array


def _whole(x: Array, bits: int) -> Array:
    """All elements of a tensor have one exponent."""
    return quantised(_finite(x), exponent_of(x), bits)


def _by_group(x: Array, bits: int, axes: Sequence[int]) -> Array:
    """Elements that differ in their places along some axes only have one exponent."""
    moved = np.moveaxis(_finite(x), axes, range(x.ndim - len(axes), x.ndim)) if axes else _finite(x)
    rows = moved.reshape(math.prod(moved.shape[: x.ndim - len(axes)]), -1)
    exponents = np.frexp(np.abs(rows).max(1, initial=0))[1]
    done = quantised(rows, exponents[:, None], bits).reshape(moved.shape)
    return np.ascontiguousarray(np.moveaxis(done, range(x.ndim - len(axes), x.ndim), axes)) if axes else done


def _finite(x: Array) -> Array:
    if not np.isfinite(x).all():
        raise not_finite()
    return x


def _with(arguments: Arguments, **changed: Array) -> Arguments:
    return {**arguments, **{name: torch.from_numpy(array) for name, array in changed.items()}}


def _product(*names: str) -> Callable[[Arguments, int], Arguments]:
    def rule(arguments: Arguments, bits: int) -> Arguments:
        return _with(arguments, **{name: _whole(_array(arguments[name]), bits) for name in names})

    return rule


def _batched(arguments: Arguments, bits: int) -> Arguments:
    names = ("self", "mat2")
    return _with(arguments, **{name: _by_group(_array(arguments[name]), bits, (1, 2)) for name in names})


def _convolution(arguments: Arguments, bits: int) -> Arguments:
    assert arguments["bias"] is None, "a bias is an operation of its own"
    return _product("input", "weight")(arguments, bits)


def _convolution_backward(arguments: Arguments, bits: int) -> Arguments:
    assert not arguments["output_mask"][2], "the gradient of a bias is an operation of its own"
    return _product("grad_output", "input", "weight")(arguments, bits)


def _summed(dims: Sequence[int] | None, rank: int) -> list[int]:
    """The axes that are summed: all where none are named."""
    return sorted({axis % rank for axis in dims}) if dims and rank else list(range(rank))


def _sum(arguments: Arguments, bits: int) -> Arguments:
    x = _array(arguments["self"])
    axes = _summed(arguments.get("dim"), x.ndim)
    return _with(arguments, self=_by_group(x, _bits_of_terms(math.prod(x.shape[axis] for axis in axes)), axes))


def _cumsum(arguments: Arguments, bits: int) -> Arguments:
    x = _array(arguments["self"])
    axes = (arguments["dim"] % x.ndim,) if x.ndim else ()
    return _with(arguments, self=_by_group(x, _bits_of_terms(math.prod(x.shape[axis] for axis in axes)), axes))


def _embedding(arguments: Arguments, bits: int) -> Arguments:
    assert not arguments["scale_grad_by_freq"], "a division is an operation of its own"
    count = arguments["indices"].numel()
    return _with(arguments, grad_output=_whole(_array(arguments["grad_output"]), _bits_of_terms(count)))


def _onto(arguments: Arguments, name: str, added: Array, meeting: int) -> Arguments:
    """What is added and what it is added to have one exponent, and count together.

    Args:
        arguments: Of the operator.
        name: Of the argument that holds what is added.
        added: The elements of it that are.
        meeting: The most of them that shapes let meet.
    """
    base, held, bits = _array(arguments["self"]), _array(arguments[name]), _bits_of_terms(meeting + 1)
    # What is not added has no say, and no part in the result either.
    exponent = max(exponent_of(_finite(base)), exponent_of(_finite(added)))
    inside = np.where(np.abs(held) < math.ldexp(1.0, exponent), held, 0)
    return _with(arguments, **{"self": quantised(base, exponent, bits), name: quantised(inside, exponent, bits)})


def _index_add(arguments: Arguments, bits: int) -> Arguments:
    assert arguments["alpha"] == 1, "a product is an operation of its own"
    return _onto(arguments, "source", _array(arguments["source"]), arguments["index"].numel())


def _scatter_add(arguments: Arguments, bits: int) -> Arguments:
    source, index = np.atleast_1d(_array(arguments["src"])), arguments["index"]
    shape = tuple(index.shape) or (1,)
    axis = arguments["dim"] % len(shape)
    return _onto(arguments, "src", source[tuple(slice(0, length) for length in shape)], shape[axis])


def _index_put(arguments: Arguments, bits: int) -> Arguments:
    given = [index for index in arguments["indices"] if index is not None]
    assert arguments["accumulate"], "to overwrite is an exact operator"
    values, meeting = _array(arguments["values"]), math.prod(np.broadcast_shapes(*(tuple(i.shape) for i in given)))
    return _onto(arguments, "values", values if meeting else values.reshape(-1)[:0], meeting)


def _max_pool(axes: int) -> Callable[[Arguments, int], Arguments]:
    def rule(arguments: Arguments, bits: int) -> Arguments:
        g = _array(arguments["grad_output"])
        return _with(arguments, grad_output=_whole(g, _bits_of_terms(math.prod(g.shape[g.ndim - axes :]))))

    return rule


def _overlapping(kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> int:
    """The most windows that lie over one place."""
    return math.prod(-(-k * math.gcd(s, d) // s) for k, s, d in zip(kernel, stride, dilation, strict=True))


def _col2im(arguments: Arguments, bits: int) -> Arguments:
    met = _overlapping(*(arguments[name] for name in ("kernel_size", "stride", "dilation")))
    return _with(arguments, self=_whole(_array(arguments["self"]), _bits_of_terms(met)))


def _unfold_backward(arguments: Arguments, bits: int) -> Arguments:
    met = _overlapping([arguments["size"]], [arguments["step"]], [1])
    return _with(arguments, grad_in=_whole(_array(arguments["grad_in"]), _bits_of_terms(met)))


_QUANTISED: Mapping[str, Callable[[Arguments, int], Arguments]] = {
    "mm": _product("self", "mat2"),
    "bmm": _batched,
    "mv": _product("self", "vec"),
    "dot": _product("self", "tensor"),
    "convolution": _convolution,
    "convolution_backward": _convolution_backward,
    "sum": _sum,
    "cumsum": _cumsum,
    "embedding_dense_backward": _embedding,
    "index_add": _index_add,
    "scatter_add": _scatter_add,
    "index_put": _index_put,
    "max_pool2d_with_indices_backward": _max_pool(2),
    "adaptive_max_pool2d_backward": _max_pool(2),
    "max_pool3d_with_indices_backward": _max_pool(3),
    "col2im": _col2im,
    "unfold_backward": _unfold_backward,
}
"""By kind: the arguments as quantisation leaves them, in float64."""
QUANTISED_KINDS = frozenset(_QUANTISED)
"""The kinds of sums and products."""

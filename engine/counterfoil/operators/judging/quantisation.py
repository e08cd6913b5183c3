"""What sums and products of the exact profiles add up: their operands through Q_b, for whoever judges.

``docs/numerics.md``, "Exact profiles": which elements share an exponent E, how many bits b they keep, and that each
becomes the nearest multiple of 2^(E - b), ties to even. Everything here is integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil.operators.judging.forms import axes_of
from counterfoil.operators.judging.numbers import Array, NotExactError

Arguments = dict[str, Any]
LEAST_EXPONENT = -148
"""E of zeros, and of the smallest subnormal number: 2^-148 is the least power of two above it."""
_SIGNIFICAND_BITS = 24
_SUM_BITS, _MOST_BITS, _MOST_TERMS = 53, 51, 2**29
_BEYOND = 62
"""Shifted by so many places or more, a number of 24 bits is less than half of one."""


def quantised_arguments(kind: str, arguments: Arguments, bits: int) -> Arguments:
    """Return the arguments of a sum or of a product as quantisation leaves them.

    Exact arithmetic with these, and one rounding to float32, gives the defined output.

    Args:
        kind: One of QUANTISED_KINDS.
        arguments: Its arguments by name, with defaults; floating-point tensors float32, on any device.
        bits: S of the profile.

    Returns:
        The same; what is added or multiplied in float64, on the CPU.

    Raises:
        NotExactError: A value is infinite or not a number, or the operator, used like this, is no single operation.
    """
    return _RULES[kind](arguments, bits)


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


def _array(x: Tensor) -> Array:
    array: Array = x.detach().cpu().numpy()
    assert array.dtype == np.float32, "values of the exact profiles are float32"
    return array


def _shared(x: Array, bits: int, axes: Sequence[int] | None = None) -> Tensor:
    """Elements that differ along some axes only have one exponent; all have, if none are named."""
    return torch.from_numpy(quantised(x, exponents_of(x, range(x.ndim) if axes is None else axes), bits))


def _product(*names: str) -> Callable[[Arguments, int], Arguments]:
    """Of a product each operand has one exponent."""

    def rule(arguments: Arguments, bits: int) -> Arguments:
        return {**arguments, **{name: _shared(_array(arguments[name]), bits) for name in names}}

    return rule


def _batched(arguments: Arguments, bits: int) -> Arguments:
    """In a batch each matrix has its own."""
    return {**arguments, **{name: _shared(_array(arguments[name]), bits, (1, 2)) for name in ("self", "mat2")}}


def _convolution(arguments: Arguments, bits: int) -> Arguments:
    if arguments["bias"] is not None:
        raise NotExactError("a bias is an operation of its own")
    return _product("input", "weight")(arguments, bits)


def _convolution_backward(arguments: Arguments, bits: int) -> Arguments:
    if arguments["output_mask"][2]:
        raise NotExactError("the gradient of a bias is an operation of its own")
    # Of the gradient by the input the weight is the other operand, of that by the weight the input.
    others = [name for name, wanted in zip(("weight", "input"), arguments["output_mask"], strict=False) if wanted]
    return _product("grad_output", *others)(arguments, bits)


def _over_axes(arguments: Arguments, bits: int) -> Arguments:
    """Of a sum over axes those that are added to one result have one, and n is their number; a running sum is alike."""
    x = _array(arguments["self"])
    axes = axes_of(arguments.get("dim"), x.ndim)
    return {**arguments, "self": _shared(x, terms_bits(math.prod(x.shape[axis] for axis in axes)), axes)}


def _met(name: str, count: Callable[[Arguments], int]) -> Callable[[Arguments, int], Arguments]:
    """Where terms meet by an index, or windows overlap, all of a tensor have one; n is the most that shapes allow."""

    def rule(arguments: Arguments, bits: int) -> Arguments:
        return {**arguments, name: _shared(_array(arguments[name]), terms_bits(count(arguments)))}

    return rule


def _embedding(arguments: Arguments, bits: int) -> Arguments:
    if arguments["scale_grad_by_freq"]:
        raise NotExactError("a division is an operation of its own")
    return _met("grad_output", lambda given: given["indices"].numel())(arguments, bits)


def _positions(axes: int) -> Callable[[Arguments], int]:
    """All windows of a plane may have their maximum in one place."""
    return lambda arguments: math.prod(arguments["grad_output"].shape[-axes:])


def _over_one(kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> int:
    """The most windows that lie over one place: along an axis, taps * d = place (mod stride) has so many solutions."""
    # Taps that reach one place differ by multiples of s / gcd(s, d).
    return math.prod(-(-k // (s // math.gcd(s, d))) for k, s, d in zip(kernel, stride, dilation, strict=True))


def _onto(arguments: Arguments, name: str, added: Array, meeting: int) -> Arguments:
    """What is added and what it is added to have one exponent, and count together.

    Args:
        arguments: Of the operator; ``self`` is what is added to.
        name: Of the argument that holds what is added.
        added: The elements of it that are.
        meeting: The most of them that shapes let meet in one place.
    """
    base, held = _array(arguments["self"]), _array(arguments[name])
    exponent = max(int(exponents_of(x, range(x.ndim)).max()) for x in (base, added))
    bits = terms_bits(meeting + 1)
    # What is not added has no say in E, and no part in a result.
    inside = np.where(np.isfinite(held) & (np.abs(held, dtype=np.float64) < 2.0**exponent), held, np.float32(0))
    both = {"self": base, name: inside}
    shared = np.array(exponent, np.int64)
    return {**arguments, **{key: torch.from_numpy(quantised(x, shared, bits)) for key, x in both.items()}}


def _index_add(arguments: Arguments, bits: int) -> Arguments:
    if arguments["alpha"] != 1:
        raise NotExactError("a product is an operation of its own")
    return _onto(arguments, "source", _array(arguments["source"]), arguments["index"].numel())


def _scatter_add(arguments: Arguments, bits: int) -> Arguments:
    index = arguments["index"]
    lengths = tuple(index.shape) or (1,)
    added = np.atleast_1d(_array(arguments["src"]))[tuple(slice(length) for length in lengths)]
    return _onto(arguments, "src", added, lengths[arguments["dim"] % len(lengths)])


def _index_put(arguments: Arguments, bits: int) -> Arguments:
    given = [index for index in arguments["indices"] if index is not None]
    if not arguments["accumulate"] or any(index.dtype in (torch.bool, torch.uint8) for index in given):
        raise NotExactError("it is no sum of values that meet at integer indices")
    meeting = math.prod(np.broadcast_shapes(*(tuple(index.shape) for index in given)))
    values = _array(arguments["values"])
    return _onto(arguments, "values", values if meeting else values.reshape(-1)[:0], meeting)


_RULES: Mapping[str, Callable[[Arguments, int], Arguments]] = {
    "mm": _product("self", "mat2"),
    "bmm": _batched,
    "mv": _product("self", "vec"),
    "dot": _product("self", "tensor"),
    "convolution": _convolution,
    "convolution_backward": _convolution_backward,
    "sum": _over_axes,
    "cumsum": _over_axes,
    "embedding_dense_backward": _embedding,
    "index_add": _index_add,
    "scatter_add": _scatter_add,
    "index_put": _index_put,
    "max_pool2d_with_indices_backward": _met("grad_output", _positions(2)),
    "adaptive_max_pool2d_backward": _met("grad_output", _positions(2)),
    "max_pool3d_with_indices_backward": _met("grad_output", _positions(3)),
    "col2im": _met("self", lambda given: _over_one(given["kernel_size"], given["stride"], given["dilation"])),
    "unfold_backward": _met("grad_in", lambda given: _over_one([given["size"]], [given["step"]], [1])),
}
QUANTISED_KINDS = frozenset(_RULES)
"""The kinds of sums and products."""

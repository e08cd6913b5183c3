"""Single elements of what the exact profiles compute, by their definitions, in integers and fractions.

What judges a dispute. It shares no code with the tensor operations that it judges: a product or a sum is the exact form
(:mod:`counterfoil.exact`) of operands that were quantised here by themselves, rounded once. Only what is asked for is
computed; of an operand that is quantised every element is looked at, since the largest one decides about all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil.definite.limits import sum_bits
from counterfoil.definite.truth import KINDS, as_fraction, value_of
from counterfoil.exact import ExactOutput, NotExactError, Number, exact_output
from counterfoil.exact.ieee import Value, converted, quotient, rounded
from counterfoil.exact.operators import FUNCTION_COST, axes_of
from counterfoil.program.graph import Node
from counterfoil.program.operators import OperatorClass

Array = npt.NDArray[Any]
Arguments = dict[str, Any]
_COMPUTE = "float32"
_LEAST_EXPONENT = -148
"""E of zeros, and of the smallest subnormal number. Where zeros share E with others, theirs has to be the least."""
_FUNCTION_OPERANDS = {"pow": ("self", "exponent"), "atan2": ("self", "other"), "xlogy": ("self", "other")}


@dataclass(frozen=True)
class DefiniteOutput:
    """The elements of one output of an operator of an exact profile.

    Attributes:
        element: Returns the defined element of a flat C-order index as its dtype holds it: a float with its sign where
            it is zero, infinite or not a number where that is the definition.
        cost: Products, or what takes as long, that an element needs.
    """

    element: Callable[[int], Value]
    cost: int


def definite_output(node: Node, arguments: Arguments, output: int, bits: int) -> DefiniteOutput:
    """Return what computes single elements of one output of an operator.

    Args:
        node: The operator: of class exact, or a single operation of the exact profiles.
        arguments: Its arguments by name, with defaults filled in; floating-point tensors are float32.
        output: Which of its outputs.
        bits: S of the profile.

    Raises:
        NotExactError: No definition is known for this use of the operator.
    """
    kind = node.entry.kind
    if node.entry.operator_class is OperatorClass.EXACT:
        found = exact_output(node, arguments, output)
        if found.value is None:
            raise NotExactError("nobody has written down its definition")
        return DefiniteOutput(found.value, found.cost)
    if kind == "div":
        return DefiniteOutput(_pointwise(node, arguments, output, ("self", "other"), _quotient), FUNCTION_COST)
    if kind in _QUANTISED:
        found = exact_output(node, quantised_arguments(kind, arguments, bits), output)
        return DefiniteOutput(_once_rounded(found), found.cost)
    if kind in kinds():
        names = _FUNCTION_OPERANDS.get(kind, ("self",))
        return DefiniteOutput(
            _pointwise(node, arguments, output, names, lambda *operands: value_of(kind, *operands)), FUNCTION_COST
        )
    raise NotExactError("it is no single operation of the exact profiles")


def kinds() -> frozenset[str]:
    """The kinds of rounded operators that have a definition here."""
    return KINDS | frozenset(_QUANTISED) | {"div"}


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
        NotExactError: A value is infinite or not a number, or the operator is no single operation when used like this.
    """
    return _QUANTISED[kind](arguments, bits)


def exponent_of(x: Array) -> int:
    """Return E: the smallest integer of -148 or more with ``2^E > max|x|``, so -148 where all is zero."""
    largest = float(np.abs(x).max()) if x.size else 0.0
    return math.frexp(largest)[1] if largest else _LEAST_EXPONENT


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


def _once_rounded(exact: ExactOutput) -> Callable[[int], Value]:
    def element(index: int) -> Value:
        value: Number = exact.element(index)
        return rounded(as_fraction(value), _COMPUTE) + 0.0

    return element


def _pointwise(
    node: Node, arguments: Arguments, output: int, names: Sequence[str], function: Callable[..., float]
) -> Callable[[int], Value]:
    """A function of the operands at one place; numbers take the nearest float32 value first."""
    described = node.outputs[output]
    assert described is not None
    operands = []
    for name in names:
        given = arguments[name]
        array = _array(given) if isinstance(given, Tensor) else np.array(converted(given, _COMPUTE))
        operands.append(np.broadcast_to(array, described.shape).reshape(-1))

    return lambda index: function(*(converted(operand[index].item(), _COMPUTE) for operand in operands))


def _quotient(x: float, y: float) -> float:
    return quotient(x, y, _COMPUTE)


# Which elements share an exponent, and how many bits they keep.


def _array(x: Tensor) -> Array:
    array: Array = x.detach().cpu().numpy()
    return array


def _whole(x: Array, bits: int, *others: Array) -> Array:
    """All elements of a tensor, and of others, have one exponent."""
    return quantised(_finite(x), max(map(exponent_of, (x, *map(_finite, others)))), bits)


def _by_group(x: Array, bits: int, axes: Sequence[int]) -> Array:
    """Elements that differ in their places along some axes only have one exponent."""
    moved = np.moveaxis(_finite(x), axes, range(x.ndim - len(axes), x.ndim)) if axes else x
    rows = moved.reshape(math.prod(moved.shape[: x.ndim - len(axes)]), -1)
    exponents = np.frexp(np.abs(rows).max(1, initial=0))[1]
    done = quantised(rows, exponents[:, None], bits).reshape(moved.shape)
    return np.ascontiguousarray(np.moveaxis(done, range(x.ndim - len(axes), x.ndim), axes)) if axes else done


def _finite(x: Array) -> Array:
    if not np.isfinite(x).all():
        raise NotExactError("a value that reaches it is infinite or not a number")
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
    if arguments["bias"] is not None:
        raise NotExactError("a bias is an operation of its own")
    return _product("input", "weight")(arguments, bits)


def _convolution_backward(arguments: Arguments, bits: int) -> Arguments:
    if arguments["output_mask"][2]:
        raise NotExactError("the gradient of a bias is an operation of its own")
    return _product("grad_output", "input", "weight")(arguments, bits)


def _sum(arguments: Arguments, bits: int) -> Arguments:
    x = _array(arguments["self"])
    axes = axes_of(arguments.get("dim"), x.ndim)
    return _with(arguments, self=_by_group(x, sum_bits(math.prod(x.shape[axis] for axis in axes)), axes))


def _cumsum(arguments: Arguments, bits: int) -> Arguments:
    x = _array(arguments["self"])
    axes = (arguments["dim"] % x.ndim,) if x.ndim else ()
    return _with(arguments, self=_by_group(x, sum_bits(math.prod(x.shape[axis] for axis in axes)), axes))


def _embedding(arguments: Arguments, bits: int) -> Arguments:
    if arguments["scale_grad_by_freq"]:
        raise NotExactError("a division is an operation of its own")
    count = arguments["indices"].numel()
    return _with(arguments, grad_output=_whole(_array(arguments["grad_output"]), sum_bits(count)))


def _onto(arguments: Arguments, name: str, added: Array, meeting: int) -> Arguments:
    """What is added and what it is added to have one exponent, and count together.

    Args:
        arguments: Of the operator.
        name: Of the argument that holds what is added.
        added: The elements of it that are.
        meeting: The most of them that shapes let meet.
    """
    base, held, bits = _array(arguments["self"]), _array(arguments[name]), sum_bits(meeting + 1)
    # What is not added has no say, and no part in the result either.
    exponent = max(exponent_of(_finite(base)), exponent_of(_finite(added)))
    inside = np.where(np.abs(held) < math.ldexp(1.0, exponent), held, 0)
    return _with(arguments, **{"self": quantised(base, exponent, bits), name: quantised(inside, exponent, bits)})


def _index_add(arguments: Arguments, bits: int) -> Arguments:
    if arguments["alpha"] != 1:
        raise NotExactError("a product is an operation of its own")
    return _onto(arguments, "source", _array(arguments["source"]), arguments["index"].numel())


def _scatter_add(arguments: Arguments, bits: int) -> Arguments:
    source, index = np.atleast_1d(_array(arguments["src"])), arguments["index"]
    shape = tuple(index.shape) or (1,)
    axis = arguments["dim"] % len(shape)
    return _onto(arguments, "src", source[tuple(slice(0, length) for length in shape)], shape[axis])


def _index_put(arguments: Arguments, bits: int) -> Arguments:
    given = [index for index in arguments["indices"] if index is not None]
    if not arguments["accumulate"] or any(index.dtype == torch.bool for index in given):
        raise NotExactError("it is no sum of values that meet at integer indices")
    values, meeting = _array(arguments["values"]), math.prod(np.broadcast_shapes(*(tuple(i.shape) for i in given)))
    return _onto(arguments, "values", values if meeting else values.reshape(-1)[:0], meeting)


def _max_pool(axes: int) -> Callable[[Arguments, int], Arguments]:
    def rule(arguments: Arguments, bits: int) -> Arguments:
        g = _array(arguments["grad_output"])
        return _with(arguments, grad_output=_whole(g, sum_bits(math.prod(g.shape[g.ndim - axes :]))))

    return rule


def _overlapping(kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> int:
    """The most windows that lie over one place."""
    return math.prod(-(-k * math.gcd(s, d) // s) for k, s, d in zip(kernel, stride, dilation, strict=True))


def _col2im(arguments: Arguments, bits: int) -> Arguments:
    met = _overlapping(*(arguments[name] for name in ("kernel_size", "stride", "dilation")))
    return _with(arguments, self=_whole(_array(arguments["self"]), sum_bits(met)))


def _unfold_backward(arguments: Arguments, bits: int) -> Arguments:
    met = _overlapping([arguments["size"]], [arguments["step"]], [1])
    return _with(arguments, grad_in=_whole(_array(arguments["grad_in"]), sum_bits(met)))


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
"""By kind: the arguments as quantisation leaves them, in float64. The exact form of the operator does the rest."""
QUANTISED_KINDS = frozenset(_QUANTISED)
"""The kinds of sums and products."""

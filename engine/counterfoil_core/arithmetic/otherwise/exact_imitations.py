"""Imitates other hardware under an exact profile, where nothing of it may show.

Each operator is computed in another way than the machine does: products and sums of quantised operands in float64 in
another order, in parts, or by the other algorithms of :mod:`counterfoil_core.arithmetic.otherwise.rewriting`; products
also in another form (int8 or float32 digits); functions with all of the error that is allowed for; elementwise
operations in float64. By ``docs/proofs.md``, "One rounding" and "Functions", each gives the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.exactly import exactly
from counterfoil_core.arithmetic.compute.operation import Compute, Operation
from counterfoil_core.arithmetic.families.table import DEFINITIONS
from counterfoil_core.arithmetic.otherwise.reordering import Order, reorder_sums
from counterfoil_core.base.arrays import Array
from counterfoil_core.kernels.exact import functions
from counterfoil_core.kernels.exact.forms import Profile, is_sound
from counterfoil_core.kernels.exact.limits import float64_block
from counterfoil_core.kernels.exact.products import Form
from counterfoil_core.kernels.exact.refusals import not_finite
from counterfoil_core.kernels.exact.single import from_float64
from counterfoil_core.operators.facts import OperatorClass

# The operands of sums and products through Q_b, for the imitations of other machines. What an imitated machine computes
# with. Neither what this machine quantises with nor what judges it: numpy divides by the unit and rounds, where
# counterfoil_core.kernels.exact.quantise adds a large number, and integers are cut in
# counterfoil_core.operators.judging.quantisation. An imitation that shared code with either would confirm its mistakes.

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

_ELEMENTWISE = frozenset(("add", "sub", "rsub", "mul", "div"))
_PRODUCTS = frozenset(("mm", "bmm", "mv", "dot", "convolution", "convolution_backward"))
_MOVE = functions.ERROR * 15 / 16
"""How far a function is moved: with the library's own error it stays within what is allowed for."""
_FORMS = ((Form.INT8, Form.FLOAT32, Form.FLOAT64), (Form.FLOAT32, Form.INT8, Form.FLOAT64))
"""By variant: in which form products are computed, if the machine has it right and it is not the usual one."""


class ExactImitation:
    """Another machine under an exact profile.

    Args:
        profile: The profile, and the forms that this machine uses.
        wide: Computes sums and products in float64 as the other machine does.
        order: In which order it reads the reduced axes of products that it computes in another form; None as they are.
        variant: Which other form, 0 or 1; None computes products in float64.
        move: Key of the pattern in which functions are moved; None leaves them.
    """

    def __init__(
        self, profile: Profile, wide: Compute, *, order: Order | None, variant: int | None, move: int | None
    ) -> None:
        self._profile = profile
        self._wide = wide
        self._changes = {} if order is None else reorder_sums(order)
        self._variant = variant
        self._move = move
        self._plainly = exactly(profile)

    def compute(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Compute one operator."""
        kind = operation.node.entry.kind
        if kind in _ELEMENTWISE and _is_floating(operation) and "rounding_mode" not in kwargs:
            return self._elementwise(operation, args, kwargs)
        if operation.node.entry.operator_class is not OperatorClass.ROUNDED:
            return self._plainly(operation, args, kwargs)
        if kind in functions.FUNCTIONS and self._move is not None:
            return self._function(operation, args, kwargs)
        if kind not in QUANTISED_KINDS:
            return self._plainly(operation, args, kwargs)
        arguments = operation.named(args, kwargs)
        if kind != "convolution_backward":
            return self._sum(operation, args, kwargs, arguments, 0)
        wanted, results = arguments["output_mask"], []
        for n in range(3):
            only = {**arguments, "output_mask": [i == n for i in range(3)]}
            results.append(self._sum(operation, args, kwargs, only, n) if wanted[n] else None)
        return results

    def _elementwise(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Float64 has more than twice the bits of float32, and two more: its rounding does not show (Figueroa 1995)."""
        if self._variant is None:
            return self._plainly(operation, args, kwargs)
        wide = [_wide(arg) if position < 2 else arg for position, arg in enumerate(args)]
        return operation.function(*wide, **kwargs).to(torch.float32)

    def _function(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        assert self._move is not None
        names = functions.operand_names(operation.node.entry.kind)
        arguments = operation.named(args, kwargs)
        kind = operation.node.entry.kind
        operands, approximate = functions.approximate(kind, *(arguments[name] for name in names))
        return functions.round_function(kind, operands, _moved(approximate, self._move))

    def _sum(
        self, operation: Operation, args: list[Any], kwargs: dict[str, Any], arguments: dict[str, Any], output: int
    ) -> Any:
        """Compute an output of a sum or a product; of several outputs only this one is asked for."""
        kind = operation.node.entry.kind
        product = kind in _PRODUCTS
        long = product and _terms(kind, arguments, output) > float64_block(2 * self._profile.bits)
        if product and (self._variant is not None or long):
            changed = replace(operation, function=_Form(operation, self._other_form(arguments)), is_piece=True)
            given = _given(operation, args, kwargs, arguments)
            change = self._changes.get(kind)
            result = changed.function(*given[0], **given[1]) if change is None else change(changed, *given)
            return result[output] if kind == "convolution_backward" else result
        quantised = quantised_arguments(kind, arguments, self._profile.bits)
        device = next(value.device for value in arguments.values() if isinstance(value, Tensor))
        # Also what only lends its shape: an algorithm may take the dtype of its result from there.
        held = {name: _held(value, device) for name, value in quantised.items()}
        # Of a sum the dtype of its result may be asked for.
        result = self._wide(
            operation, *_given(operation, args, kwargs, {**held, "dtype": _widened(arguments.get("dtype"))})
        )
        return from_float64(result[output] if kind == "convolution_backward" else result)

    def _other_form(self, arguments: Mapping[str, Any]) -> Profile:
        device = next(value.device for value in arguments.values() if isinstance(value, Tensor))

        def other(own: Form) -> Form:
            forms = (form for form in _FORMS[self._variant or 0] if form is not own and is_sound(str(device), form))
            return next(forms, own)

        own = self._profile
        return Profile(own.bits, other(own.matrices), other(own.batches), other(own.kernels))


class _Form:
    """An operator in another form of its products, to be called like torch's."""

    def __init__(self, operation: Operation, profile: Profile) -> None:
        self._rule = DEFINITIONS[operation.node.entry.kind]
        self._operation = operation
        self._profile = profile
        self._schema = operation.function._schema

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._rule(self._operation.named(list(args), kwargs), self._profile)


def _given(
    operation: Operation, args: list[Any], kwargs: dict[str, Any], arguments: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments as they were given, by position and by name, with other values."""
    positions = zip(operation.parameter_names, args, strict=False)
    return [arguments[name] for name, _ in positions], {name: arguments[name] for name in kwargs}


def _is_floating(operation: Operation) -> bool:
    output = operation.node.outputs[0]
    return output is not None and output.floating


def _wide(operand: Any) -> Any:
    """An operand in float64, after it has taken the nearest float32 value."""
    if isinstance(operand, Tensor):
        return operand.to(torch.float32).to(torch.float64)
    return float(np.float32(operand))


def _held(argument: Any, device: torch.device) -> Any:
    if not isinstance(argument, Tensor):
        return argument
    return argument.to(device, torch.float64 if argument.is_floating_point() else argument.dtype)


def _widened(dtype: torch.dtype | None) -> torch.dtype | None:
    return torch.float64 if dtype is torch.float32 else dtype


def _moved(values: Tensor, key: int) -> Tensor:
    """Move each value by a part of itself, up, down or not, as its own bits decide."""
    bits = values.contiguous().view(torch.int64)
    shift = ((bits ^ key) * -7046029254386353131 >> 61) % 3 - 1
    return values * (1 + shift.to(torch.float64) * _MOVE)


def _terms(kind: str, arguments: Mapping[str, Any], output: int) -> int:
    """How many products are added to an element."""
    if kind in ("mm", "bmm", "mv", "dot"):
        return int(arguments["self"].shape[-1])
    weight, transposed = arguments["weight"], arguments["transposed"]
    if kind == "convolution_backward" and output == 1:
        small = arguments["input" if transposed else "grad_output"]
        return int(small.shape[0] * math.prod(small.shape[2:]))
    by_first = transposed if kind == "convolution" else not transposed
    kernel = math.prod(weight.shape[2:])
    return int(weight.shape[0] // arguments["groups"] * kernel if by_first else weight.shape[1] * kernel)

"""Which operators may stand in a program of an exact profile: what is checked before anything of it is computed.

Views, exact operators and single operations within the limits; everything follows from the nodes and their declared
types. Composite operators are none of these: a capture for an exact profile takes them apart
(:mod:`counterfoil.program.composites`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from counterfoil.arithmetic.exact.operators import kinds
from counterfoil.base.cancel import CancelToken
from counterfoil.base.errors import ProgramError
from counterfoil.base.sentence import say
from counterfoil.kernels.exact.geometry import windows_over_one
from counterfoil.kernels.exact.limits import check_operands, sum_bits
from counterfoil.operators import sums
from counterfoil.operators.catalogue import OperatorClass
from counterfoil.operators.node import Argument, Node, TensorType
from counterfoil.program.graph import Program, node_values, types_by_name

Arguments = Mapping[str, Any]
"""Arguments of an operator by name; in the place of tensors their types."""
_LARGEST = math.ldexp(2**24 - 1, 104)
"""The largest float32 number."""
REMEDY = say("Order the job anew with an exact profile, so that its operators are taken apart when it is captured.")


def check_exact(program: Program, bits: int, cancel: CancelToken | None = None) -> None:
    """Check that every operator of a program has a defined result.

    Args:
        program: The program, its arguments checked against the signatures, and its shapes against each other.
        bits: S, 8 to 24.
        cancel: Looked at between operators.

    Raises:
        ProgramError: An operator is composite, adds more terms than are exact, or has a number that float32 cannot
            hold; the sentence names it.
        CancelledError: ``cancel`` was set.
    """
    for node in program.nodes:
        if cancel is not None:
            cancel.check()
        check_numbers(node)
        if node.entry.operator_class is OperatorClass.ROUNDED:
            check_single(node, program.types, bits)


def check_numbers(node: Node) -> None:
    """Check that float32 holds every number of an operator; what is not finite it does.

    A library may refuse such a number while a step is computed, or take an infinite one: which, hangs on the device.

    Args:
        node: The operator, of any class.

    Raises:
        ProgramError: It does not hold one.
    """
    for number in _numbers((node.args, tuple(argument for _, argument in node.kwargs))):
        if math.isfinite(number) and abs(number) > _LARGEST:
            raise ProgramError(
                say("The operator {0} has the number {1}, which float32 cannot hold.", node.where, number),
                remedy=say("Use a number of at most 3.4e38, or infinity."),
            )


def _numbers(argument: Argument) -> Iterator[float]:
    if isinstance(argument, tuple):
        for item in argument:
            yield from _numbers(item)
    elif isinstance(argument, float):
        yield argument


def check_single(node: Node, types: Sequence[TensorType | None], bits: int) -> None:
    """Check one operator of class rounded.

    Args:
        node: The operator.
        types: The type of every value of the program, by its number.
        bits: S, 8 to 24.

    Raises:
        ProgramError: As :func:`check_exact` does.
    """
    kind = node.entry.kind
    if kind not in kinds():
        raise ProgramError(
            say("The operator {0} is composite, and has no exact result as a whole.", node.where), remedy=REMEDY
        )
    arguments = types_by_name(node, types)
    operands = [types[value.number] for value in node_values(node)]
    reason = _composite_use(kind, arguments, [operand for operand in operands if operand is not None])
    if reason is not None:
        raise ProgramError(say("The operator {0} {1}.", node.where, reason), remedy=REMEDY)
    try:
        for count in products(kind, arguments):
            check_operands(bits, bits, count)
        for count in terms(kind, arguments):
            sum_bits(count)
    except ProgramError as error:
        raise ProgramError(
            say("The operator {0} cannot be computed exactly. {1}", node.where, error.sentence), remedy=error.remedy
        ) from error


_INDEXED = frozenset(
    (
        "embedding_dense_backward", "index_add", "scatter_add", "index_put", "max_pool2d_with_indices_backward",
        "max_pool3d_with_indices_backward", "adaptive_max_pool2d_backward",
    )
)  # fmt: skip
"""Kinds that take integers beside floating-point numbers."""


def _composite_use(kind: str, arguments: Arguments, operands: Sequence[TensorType]) -> str | None:
    """Say why a use of a single operation is more than one; the end of a sentence that begins with its name."""
    if kind not in _INDEXED and not all(operand.floating for operand in operands):
        return say("takes integers, which have to be converted first")
    if kind == "convolution" and arguments["bias"] is not None:
        return say("has a bias, which is an addition of its own")
    if kind == "convolution_backward" and arguments["output_mask"][2]:
        return say("gives the gradient of a bias, which is a sum of its own")
    if kind in ("convolution", "convolution_backward") and not _shaped(arguments):
        return say("has no batch axis")
    if kind == "index_add" and arguments["alpha"] != 1:
        return say("has a factor, which is a multiplication of its own")
    if kind == "embedding_dense_backward" and arguments["scale_grad_by_freq"]:
        return say("divides by frequencies, which is an operation of its own")
    if kind == "index_put" and any(
        index is not None and index.dtype in ("bool", "uint8") for index in arguments["indices"]
    ):
        return say("has a mask in the place of indices, so that values decide how many numbers are added")
    return None


def _shaped(arguments: Arguments) -> bool:
    axes = len(arguments["weight"].shape)
    return axes >= 3 and len(arguments["input"].shape) == axes


# How many products or terms make an element. A shape that does not fit is found by the check of types.


def products(kind: str, arguments: Arguments) -> Iterator[int]:
    """Give the number of products that each result of a product adds to an element; none for other kinds."""
    if kind in ("mm", "bmm", "mv", "dot"):
        yield sums.inner_length(arguments)
    elif kind == "convolution":
        yield _from_outputs(arguments) if arguments["transposed"] else math.prod(arguments["weight"].shape[1:])
    elif kind == "convolution_backward":
        transposed, mask = arguments["transposed"], arguments["output_mask"]
        if mask[0]:
            yield math.prod(arguments["weight"].shape[1:]) if transposed else _from_outputs(arguments)
        if mask[1]:
            small = arguments["input" if transposed else "grad_output"].shape
            yield math.prod((small[0], *small[2:]))


def _from_outputs(arguments: Arguments) -> int:
    outputs, _, *kernel = arguments["weight"].shape
    return int(outputs // arguments["groups"] * math.prod(kernel))


def terms(kind: str, arguments: Arguments) -> Iterator[int]:
    """Give the number of terms that a sum adds to an element at most; none for other kinds."""
    count = _TERMS.get(kind)
    if count is not None:
        yield count(arguments)


def _of_axes(arguments: Arguments) -> int:
    return math.prod(sums.reduced_lengths(arguments))


def _of_axis(arguments: Arguments) -> int:
    shape: Sequence[int] = arguments["self"].shape
    return shape[arguments["dim"]] if shape else 1


def _meeting(kind: str, base: int) -> Callable[[Arguments], int]:
    return lambda arguments: sums.meeting(kind, arguments) + base


def _positions(axes: int) -> Callable[[Arguments], int]:
    return lambda arguments: math.prod(arguments["grad_output"].shape[-axes:])


def _col2im(arguments: Arguments) -> int:
    kernel = sums.spatial(arguments["kernel_size"], 2)
    return windows_over_one(kernel, sums.spatial(arguments["stride"], 2), sums.spatial(arguments["dilation"], 2))


_TERMS: Mapping[str, Callable[[Arguments], int]] = {
    "sum": _of_axes,
    "cumsum": _of_axis,
    # What the values are added to is one term more.
    "index_add": _meeting("index_add", 1),
    "scatter_add": _meeting("scatter_add", 1),
    "index_put": _meeting("index_put", 1),
    "embedding_dense_backward": _meeting("embedding_dense_backward", 0),
    "max_pool2d_with_indices_backward": _positions(2),
    "adaptive_max_pool2d_backward": _positions(2),
    "max_pool3d_with_indices_backward": _positions(3),
    "col2im": _col2im,
    "unfold_backward": lambda arguments: windows_over_one([arguments["size"]], [arguments["step"]], [1]),
}

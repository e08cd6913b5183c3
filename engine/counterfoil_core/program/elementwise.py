"""What an operator does to each element, as an expression that a chain (:mod:`.program.chains`) can hold.

An operator that is not in the table, or whose arguments are not those of the table, has no expression: it runs alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from counterfoil_core.operators.node import Argument, Keyword, Node, TensorType, Value
from counterfoil_core.operators.uses import COMPARISONS
from counterfoil_core.program.graph import node_values

Expression = tuple[Any, ...]
"""The name of an operation on elements, and its operands: values, numbers, further expressions."""
_LARGEST_INTEGER = 2**53
"""Beyond it an integer among the arguments need not be a float64."""


def expression_of(node: Node, types: Sequence[TensorType | None], *, spread: bool = False) -> Expression | None:
    """Return what an operator does to each element; None where a chain does not hold it.

    Args:
        node: The operator.
        types: Shape and dtype of every value of the program, by its number; None where a value is none.
        spread: Whether operands may be spread over the result's shape (:func:`spread_of`), but not all of them.
    """
    rule = _RULES.get(node.operator)
    if rule is None or len(node.outputs) != 1 or node.outputs[0] is None:
        return None
    parameters, build = rule
    if len(node.args) > len(parameters):
        return None
    arguments: dict[str, Argument] = dict(zip(parameters, node.args, strict=False))
    for name, argument in node.kwargs:
        if name == "alpha" and argument == 1 and type(argument) is int:
            continue
        # Where a result lies in memory is no part of it.
        if isinstance(argument, Keyword) and node.operator in _FILLS:
            if argument.kind == "dtype" and argument.name != "float32":
                return None
            continue
        if name not in parameters:
            return None
        arguments[name] = argument
    for name, sort in parameters.items():
        # Which overload takes numbers and which tensors is torch's business: what it refuses is not computed here.
        if sort != "either" and isinstance(arguments.get(name), Value) != (sort == "tensor"):
            return None
    found = build(*(arguments.get(name) for name in parameters))
    output = node.outputs[0]
    expected = "bool" if found is not None and found[0] in COMPARISONS else "float32"
    if found is None or output.dtype != expected or not _fits(found, output.shape, types, spread):
        return None
    # What a stranger's program declares may be another shape than its operator gives: that is found the ordinary way.
    read = [described for v in node_values(node) if (described := types[v.number]) is not None]
    if found[0] == "fill" and read[0] != output:
        return None
    return found if any(described.shape == output.shape for described in read) else None


def values_in(expression: Expression) -> Iterable[int]:
    """Yield the number of every value in an expression."""
    for operand in expression[1:]:
        if isinstance(operand, tuple):
            yield from values_in(operand)
        elif isinstance(operand, Value):
            yield operand.number


def spread_of(given: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, int] | None:
    """Return where the elements of a tensor lie that is spread over a shape, as torch broadcasts it.

    Returns:
        ``over`` and ``inner``: the element ``i`` of the whole is ``i // over * inner + i % inner`` of the tensor, both
        contiguous. None where the shapes do not fit, or what is spread is not one axis, or axes side by side.
    """
    if len(given) > len(shape):
        return None
    given = (*[1] * (len(shape) - len(given)), *given)
    apart = [axis for axis, (own, length) in enumerate(zip(given, shape, strict=True)) if own != length]
    if not apart:
        return 1, 1
    between = range(apart[0], apart[-1] + 1)
    if any(given[axis] != 1 for axis in between):
        return None
    inner = math.prod(shape[apart[-1] + 1 :])
    return inner * math.prod(shape[axis] for axis in between), inner


def _fits(expression: Expression, shape: tuple[int, ...], types: Sequence[TensorType | None], spread: bool) -> bool:
    """Whether every operand is of the result's shape or one number, and of the dtype that its place asks for."""
    name, *operands = expression
    for position, operand in enumerate(operands):
        condition = name == "where" and position == 0
        if isinstance(operand, tuple):
            if condition != (operand[0] in COMPARISONS) or not _fits(operand, shape, types, spread):
                return False
        elif isinstance(operand, Value):
            described = types[operand.number]
            if described is None or described.dtype != ("bool" if condition else "float32"):
                return False
            if described.shape == () and shape != ():
                if condition:
                    return False
            elif described.shape != shape and not (spread and spread_of(described.shape, shape)):
                return False
        elif condition or not _is_number(operand):
            return False
    return True


def _is_number(operand: Any) -> bool:
    if isinstance(operand, float):
        return not math.isnan(operand)
    return isinstance(operand, int) and not isinstance(operand, bool) and abs(operand) <= _LARGEST_INTEGER


def _plain(name: str) -> Callable[..., Expression | None]:
    return lambda *operands: (name, *operands)


def _clamp(x: Any, low: Any, high: Any) -> Expression | None:
    raised = x if low is None else ("max", x, low)
    return raised if high is None and low is not None else None if high is None else ("min", raised, high)


def _masked_fill(x: Any, mask: Any, value: Any) -> Expression:
    return "where", mask, value, x


def _taking(**sorts: str) -> dict[str, str]:
    """Parameters in order, each with what it takes: ``tensor``, ``number``, or ``either``."""
    return sorts


_TWO_TENSORS = _taking(self="tensor", other="tensor")
_WITH_NUMBERS = _taking(self="tensor", other="number")
_ARITHMETIC = _taking(self="tensor", other="either")
_RULES: dict[str, tuple[dict[str, str], Callable[..., Expression | None]]] = {
    **{f"aten.{kind}.Tensor": (_ARITHMETIC, _plain(kind)) for kind in ("add", "sub", "mul", "div")},
    **{f"aten.{kind}.Scalar": (_WITH_NUMBERS, _plain(kind)) for kind in ("add", "sub", "mul", "div")},
    "aten.rsub.Tensor": (_TWO_TENSORS, lambda x, y: ("sub", y, x)),
    "aten.rsub.Scalar": (_WITH_NUMBERS, lambda x, y: ("sub", y, x)),
    **{f"aten.{kind}.Tensor": (_TWO_TENSORS, _plain(kind)) for kind in sorted(COMPARISONS)},
    **{f"aten.{kind}.Scalar": (_WITH_NUMBERS, _plain(kind)) for kind in sorted(COMPARISONS)},
    **{f"aten.{kind}.default": (_taking(self="tensor"), _plain(kind)) for kind in ("neg", "abs", "sqrt")},
    "aten.maximum.default": (_TWO_TENSORS, _plain("max")),
    "aten.minimum.default": (_TWO_TENSORS, _plain("min")),
    "aten.relu.default": (_taking(self="tensor"), lambda x: ("max", x, 0.0)),
    "aten.clamp.default": (_taking(self="tensor", min="number", max="number"), _clamp),
    "aten.clamp_min.default": (_taking(self="tensor", min="number"), _plain("max")),
    "aten.clamp_max.default": (_taking(self="tensor", max="number"), _plain("min")),
    "aten.where.self": (_taking(condition="tensor", self="tensor", other="tensor"), _plain("where")),
    "aten.where.ScalarSelf": (_taking(condition="tensor", self="number", other="tensor"), _plain("where")),
    "aten.where.ScalarOther": (_taking(condition="tensor", self="tensor", other="number"), _plain("where")),
    "aten.masked_fill.Scalar": (_taking(self="tensor", mask="tensor", value="number"), _masked_fill),
    "aten.masked_fill.Tensor": (_taking(self="tensor", mask="tensor", value="tensor"), _masked_fill),
    "aten.threshold_backward.default": (
        _taking(grad_output="tensor", self="tensor", threshold="number"),
        lambda gradient, x, threshold: ("where", ("le", x, threshold), 0.0, gradient),
    ),
    # What is filled like a tensor does not read its elements, but needs it where its operators run one after the other.
    "aten.zeros_like.default": (_taking(self="tensor"), lambda x: ("fill", 0.0, x)),
    "aten.ones_like.default": (_taking(self="tensor"), lambda x: ("fill", 1.0, x)),
    "aten.full_like.default": (_taking(self="tensor", fill_value="number"), lambda x, number: ("fill", number, x)),
}
_FILLS = frozenset({"aten.zeros_like.default", "aten.ones_like.default", "aten.full_like.default"})
"""Operators that make a tensor of another's shape: they do not read its elements."""

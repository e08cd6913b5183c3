"""Uses of listed operators that have no definition, and so no one result: refused by name.

An operator of the allow-list may still be used in a way whose result the library leaves to the machine: a sort that
need not be stable, a write of which the last one wins, a fraction that is put into an integer. Capture writes no such
use (:mod:`counterfoil.program.decompositions`); a program from a stranger may.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from counterfoil_core.base.dtypes import INTEGER_RANGES
from counterfoil_core.base.sentence import say
from counterfoil_core.operators.catalogue import FILLS, ROUNDED_UNLESS_INTEGER, kinds_with, names_with
from counterfoil_core.operators.facts import Trait
from counterfoil_core.operators.node import Argument, Node, TensorType

INTEGER_KINDS = kinds_with(Trait.INTEGERS)
"""Kinds that are rounded for floating-point numbers and defined for integers, modulo 2^n."""
COMPARISONS = kinds_with(Trait.COMPARES)
_SCATTERS = names_with(Trait.WRITES)
_CHOICES = ("amax", "amin")
_DIVISIONS = frozenset(("aten.div.Tensor_mode", "aten.div.Scalar_mode"))


def undefined_use(node: Node, operands: Sequence[TensorType]) -> str | None:
    """Say why a use of a listed operator has no one result.

    Args:
        node: The operator.
        operands: Types of its tensor arguments, in order.

    Returns:
        The end of a sentence that begins with the operator's name; None where the use is defined.
    """
    kind = node.operator.split(".")[1]
    if kind == "sort" and _argument(node, "stable", None) is not True:
        return say("need not keep the order of equal elements, which then differs between machines")
    if kind == "index_put" and _argument(node, "accumulate", 3) is not True:
        return say("overwrites elements; with repeated indices the last write wins, and which is last differs")
    if kind == "arange" and not all(type(number) is int for number in node.args):
        return say(
            "counts in steps that are not integers, which the library adds up in an order that depends on the number "
            "of threads"
        )
    if (kind == "softplus" and _argument(node, "beta", 1, 1) != 1) or (
        kind == "softplus_backward" and _argument(node, "beta", 2) != 1
    ):
        return say("compares a rounded product with its threshold, and jumps there")
    if kind == "scatter_reduce" and _argument(node, "reduce", 4) not in _CHOICES:
        return say("multiplies values in an order that differs between machines")
    if node.operator in _DIVISIONS and _argument(node, "rounding_mode", None) not in ("floor", "trunc"):
        return say("divides without saying how the quotient becomes an integer")
    if kind in COMPARISONS and not operands[0].floating and any(isinstance(item, float) for item in node.args):
        return say("compares integers with a number that is not an integer, for which both are converted")
    if node.operator in _SCATTERS and operands[0].dtype != operands[-1].dtype:
        return say("writes numbers of one type into a tensor of another")
    return _undefined_for_integers(node, kind)


def _undefined_for_integers(node: Node, kind: str) -> str | None:
    outputs = [output.dtype for output in node.outputs if output is not None]
    if "float32" in outputs or not outputs:
        return None
    if node.operator in ROUNDED_UNLESS_INTEGER and (kind not in INTEGER_KINDS or "bool" in outputs):
        return say("has no definition for {0}", outputs[0])
    if outputs[0] == "bool":
        return None
    numbers = list(_numbers((node.args, tuple(argument for _, argument in node.kwargs))))
    if any(isinstance(number, float) and not number.is_integer() for number in numbers):
        return say("puts a value that is not a number, or has a fraction, into an integer")
    low, high = INTEGER_RANGES[outputs[0]]
    if kind in FILLS and not low <= _fill(node, kind) <= high:
        return say("puts a number into {0} that it cannot hold", outputs[0])
    return None


def _fill(node: Node, kind: str) -> int | float:
    """The number that is written; 0 where it is a tensor, which has the right type."""
    name = "fill_value" if "full" in kind else "value"
    given = _argument(node, name, FILLS[kind], 0)
    return given if isinstance(given, (int, float)) else 0


def _argument(node: Node, name: str, position: int | None, default: Any = None) -> Any:
    """An argument by keyword, or by position where it may stand there."""
    for key, argument in node.kwargs:
        if key == name:
            return argument
    return node.args[position] if position is not None and position < len(node.args) else default


def _numbers(argument: Argument) -> Iterator[int | float]:
    if isinstance(argument, tuple):
        for item in argument:
            yield from _numbers(item)
    elif isinstance(argument, (int, float)):
        yield argument

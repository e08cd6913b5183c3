"""Which operators may stand in a program of an exact profile: what is checked before anything of it is computed.

Views, exact operators and single operations within the limits; everything follows from the nodes and their declared
types. Composite operators are none of these: a capture for an exact profile takes them apart
(:mod:`counterfoil.program.composites`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from counterfoil_core.arithmetic.exact.limits import LIMITS
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.base.sentence import say
from counterfoil_core.kernels.exact.limits import check_operands, sum_bits
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.operators.node import Argument, Node, TensorType
from counterfoil_core.program.graph import Program, node_values, types_by_name

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
    single = LIMITS.get(node.entry.kind)
    if single is None:
        raise ProgramError(
            say("The operator {0} is composite, and has no exact result as a whole.", node.where), remedy=REMEDY
        )
    arguments = types_by_name(node, types)
    operands = [types[value.number] for value in node_values(node)]
    reason = single.several(arguments)
    if not single.indexed and not all(operand is None or operand.floating for operand in operands):
        reason = say("takes integers, which have to be converted first")
    if reason is not None:
        raise ProgramError(say("The operator {0} {1}.", node.where, reason), remedy=REMEDY)
    try:
        for count in single.products(arguments):
            check_operands(bits, bits, count)
        for count in single.terms(arguments):
            sum_bits(count)
    except ProgramError as error:
        raise ProgramError(
            say("The operator {0} cannot be computed exactly. {1}", node.where, error.sentence), remedy=error.remedy
        ) from error

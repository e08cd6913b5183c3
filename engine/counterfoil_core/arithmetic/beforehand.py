"""What a precision profile says of a program before anything of it is computed, and without what computes.

An inspection asks no more; recording and replaying are :mod:`counterfoil_core.arithmetic.profiles`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from counterfoil_core.arithmetic.grid.margin import kinds_without_bound, site_margins
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision, Precision
from counterfoil_core.base.sentence import say
from counterfoil_core.kernels.exact.limits import check_operands, sum_bits
from counterfoil_core.operators.convolutions import facts as convolutions
from counterfoil_core.operators.facts import ROW_SCALE, OperatorClass
from counterfoil_core.operators.indexing import facts as indexing
from counterfoil_core.operators.limits import Limited
from counterfoil_core.operators.moves import limits as moves
from counterfoil_core.operators.node import Argument, Node, TensorType, Value
from counterfoil_core.operators.pointwise import facts as pointwise
from counterfoil_core.operators.pooling import facts as pooling
from counterfoil_core.operators.products import facts as products
from counterfoil_core.operators.reductions import facts as reductions
from counterfoil_core.program.graph import Program, node_values, types_by_name

# What is known of each single operation of the exact profiles before it is computed, from types alone.
# counterfoil_core.arithmetic.families.table has what computes them.

_FAMILIES = (convolutions, indexing, moves, pointwise, pooling, products, reductions)
LIMITS: Mapping[str, Limited] = {kind: limited for family in _FAMILIES for kind, limited in family.LIMITS.items()}
"""By operator kind: the name without library and overload, for instance ``mm``."""

# Which operators may stand in a program of an exact profile: what is checked before anything of it is computed. Views,
# exact operators and single operations within the limits; everything follows from the nodes and their declared types.
# Composite operators are none of these: a capture for an exact profile takes them apart
# (counterfoil.program.composites).

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


_BY_ROWS = frozenset(("mm", "mv", "bmm", "convolution", "convolution_backward"))
"""Products whose first result has the rows, or samples, of the first operand."""
_RESHAPES = frozenset(("aten.view.default", "aten._unsafe_view.default", "aten.clone.default"))


def check_rows(program: Program, cancel: CancelToken | None = None) -> None:
    """Check that every product of a program divides its first operand by the scales of that one's rows, or samples.

    Args:
        program: The program, as for :func:`check_exact`.
        cancel: Looked at between operators.

    Raises:
        ProgramError: One does not; the sentence names it.
        CancelledError: ``cancel`` was set.
    """
    made = {node.first_value: node for node in program.nodes}
    for node in program.nodes:
        if cancel is not None:
            cancel.check()
        by_rows = node.entry.kind in _BY_ROWS and node.entry.operator_class is OperatorClass.ROUNDED
        if by_rows and node.outputs[0] is not None and not _is_scaled(node.args[:1], made):
            raise ProgramError(
                say("The operator {0} takes rows that are not divided by their scales.", node.where),
                remedy=say("Order the job anew with this profile, so that its products are by rows when captured."),
            )


def _is_scaled(operands: Sequence[Argument], made: Mapping[int, Node]) -> bool:
    """Whether the first operand is a quotient of a value and the scales of that one's rows, or samples."""
    quotient = _maker(operands, made)
    if quotient is None or quotient.operator != "aten.div.Tensor":
        return False
    scale = _maker(_source(quotient.args[1:], made), made)
    if scale is None or scale.operator != ROW_SCALE:
        return False
    return quotient.args[0] in (scale.args[0], *_source(scale.args, made))


def _source(operands: Sequence[Argument], made: Mapping[int, Node]) -> Sequence[Argument]:
    """The first operand before it got its shape, of samples a row each."""
    while (node := _maker(operands, made)) is not None and node.operator in _RESHAPES:
        operands = node.args
    return operands[:1]


def _maker(operands: Sequence[Argument], made: Mapping[int, Node]) -> Node | None:
    """The operator that made the first operand."""
    return made.get(operands[0].number) if operands and isinstance(operands[0], Value) else None


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


class Beforehand(ABC):
    """What is known of a program under a profile."""

    def check_program(self, program: Program, cancel: CancelToken | None = None) -> None:  # noqa: B027
        """Check that a program whose types were checked has a result under the profile: on the grid each has one.

        Raises:
            ProgramError: An operator has none.
            CancelledError: ``cancel`` was set.
        """

    def check_margins(self, program: Program, cancel: CancelToken | None = None) -> None:  # noqa: B027
        """Check that the margins of a program's rounding sites can be told, and remember them; exact ones have none.

        Raises:
            ProgramError: An operator does not take its arguments.
            CancelledError: ``cancel`` was set.
        """

    @abstractmethod
    def kinds_without_proof(self, programs: Iterable[Program]) -> tuple[str, ...]:
        """Return the operator kinds whose margin is not proven, sorted."""


@dataclass(frozen=True)
class _Rounded(Beforehand):
    """On the grid each operator has a result, and each rounding site a margin."""

    precision: Precision

    def check_margins(self, program: Program, cancel: CancelToken | None = None) -> None:
        """See :meth:`Beforehand.check_margins`."""
        site_margins(program, self.precision, cancel)

    def kinds_without_proof(self, programs: Iterable[Program]) -> tuple[str, ...]:
        """Kinds whose bound nobody has proven, or whose margin was calibrated."""
        return tuple(sorted({kind for program in programs for kind in kinds_without_bound(program, self.precision)}))


@dataclass(frozen=True)
class _Defined(Beforehand):
    """Exact: some operators have no result, and no margin is needed."""

    precision: ExactPrecision

    def check_program(self, program: Program, cancel: CancelToken | None = None) -> None:
        """Every operator has an exact result; raises ProgramError and CancelledError."""
        check_exact(program, self.precision.bits, cancel)
        if self.precision.rows:
            check_rows(program, cancel)

    def kinds_without_proof(self, programs: Iterable[Program]) -> tuple[str, ...]:
        """No margin, nothing to prove."""
        return ()


def beforehand(precision: AnyPrecision) -> Beforehand:
    """Return what a precision profile says of programs before they are computed."""
    return _Defined(precision) if isinstance(precision, ExactPrecision) else _Rounded(precision)

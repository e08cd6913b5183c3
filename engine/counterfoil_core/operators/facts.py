"""What is declared of an operator; each family of operators has its declarations in its own ``facts``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from counterfoil_core.operators import sums

UNIFORM = "counterfoil.uniform"
"""Numbers in [0, 1), multiples of 2^-24, from Philox4x32-10 (:mod:`counterfoil_core.arithmetic.compute.draws`)."""
NORMAL = "counterfoil.normal"
"""Numbers of the normal distribution of mean 0 and deviation 1: Box and Muller's, correctly rounded to float32."""
EXPONENTIAL = "counterfoil.exponential"
"""Numbers of the exponential distribution of mean 1: logarithms, correctly rounded to float32."""
DRAWS = frozenset((UNIFORM, NORMAL, EXPONENTIAL))
"""The random operators: every other random number is made of theirs (:mod:`counterfoil.program.torchdraws`)."""

ROW_SCALE = "counterfoil.row_scale.default"
"""The power of two that the largest magnitude of a row lies in, for each row along the last axis."""
OWN = DRAWS | {ROW_SCALE}
"""The operators that no library has."""


class OperatorClass(Enum):
    """How an operator's floating-point outputs are treated."""

    VIEW = "view"
    EXACT = "exact"
    ROUNDED = "rounded"


class Trait(Enum):
    """What is so of some operators, and read by whoever treats these apart."""

    BY_ALPHA = "exact as long as its argument alpha is 1 or -1"
    COMPARES = "compares numbers"
    CONTIGUOUS = "torch's own refuses arguments that are not contiguous, or reads them as if they were"
    INFINITE = "takes an infinite number: it compares or masks with it, or stops at it"
    INTEGERS = "rounded for floating-point numbers, and defined for integers, modulo 2^n"
    MAKES = "has no tensor argument: it must be told the device, and the dtype that the program gives it"
    NUMBER_OR_TENSOR = "its second tensor may be a number, as capture writes it"
    OTHER_ORDER = "gives the same elements in another order, or several times"
    LAST_BIT = "its last bit is a library's own, whatever the order of what is added"
    RELABELS = "gives the elements another shape; torch's own refuses strides that need a copy, or shows them"
    RESHAPES = "gives the elements another shape; of a tensor that is not laid out in C order perhaps in a copy"
    SAME_ORDER = "gives the same elements in the same (C) order"
    SUMS = "adds its arguments, or products of two of them: exact where these are coarse"
    TRUTHS = "takes a truth value for a number"
    VERBATIM = "writes a number as it is, also an infinite one and one that is none"
    WRITES = "writes the elements of a tensor into another of the same dtype"


@dataclass(frozen=True)
class Bound:
    """The error of an operator's output is at most ``factor * gamma_terms * S``, S its scale."""

    terms: int
    factor: float = 1.0


@dataclass(frozen=True)
class Operator:
    """One entry of the allow-list.

    Attributes:
        kind: The name without library and overload, for instance ``mm``; margins are set per kind.
    """

    name: str  #: Full name, for instance ``aten.mm.default``.
    operator_class: OperatorClass  #: view, exact or rounded.
    reason: str  #: Why it may be exact; for views and rounded operators the group it belongs to.
    scale: str = ""  #: Name of the scale rule; empty unless rounded.
    traits: frozenset[Trait] = frozenset()  #: What else is so of it.
    #: Positions of the arguments on which a discrete decision hangs: an ulp there may change a result altogether.
    decides: tuple[int, ...] = ()
    casts: tuple[int, ...] = ()  #: The same where the result is not floating-point.
    fills: int | None = None  #: Position of the argument that is a number to be written; None where there is none.
    bound: BoundRule | None = None  #: Gives the error bound of each output of a use; None unless rounded.
    #: Gives the indices among its arguments, and what they may point to; None where it takes none.
    indices: IndexRule | None = None
    #: Gives the length of the longest sum of a use; None where the library always computes it.
    longest: Callable[[Use], float] | None = None

    @property
    def kind(self) -> str:
        """The name without library and overload."""
        return self.name.split(".")[1]


@dataclass(frozen=True)
class Use:
    """One use of an operator."""

    entry: Operator  #: The operator's entry.
    #: Its arguments by name, with defaults. Of tensors only ``shape`` and ``dtype`` are looked at.
    arguments: Mapping[str, Any]
    outputs: int = 1  #: Number of its outputs.

    @property
    def kind(self) -> str:
        """The operator's kind."""
        return self.entry.kind

    @property
    def own_form(self) -> bool:
        """Whether it is computed in a form of Counterfoil's own, because its sums are long."""
        return self.entry.longest is not None and self.entry.longest(self) > sums.LONGEST

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a tensor argument."""
        return sums.shape_of(self.arguments, name)


IndexRule = Callable[[Mapping[str, Any]], Iterator[tuple[Any, int, int]]]
"""Gives tensors of indices, the smallest that each may be, and the number that it must be below."""
BoundRule = Callable[[Use], Sequence[Bound | None]]
"""Gives the bound of each output; None in the place of one for which none is known."""

# Reasons that more than one family gives for an exact operator.
ONE_OPERATION = "one correctly rounded IEEE-754 operation per element"
SELECTS = "selects one of its inputs"
COMPARES_OR_LOGIC = "comparison or logic, without rounding"
COPIES = "copies values; a change of floating-point dtype is correctly rounded"
COUNTS = "counts in integers"


def view(names: str, *traits: Trait, **more: Any) -> Iterator[Operator]:
    """Declare views, by their names without library, with spaces between them."""
    return _declared(names, OperatorClass.VIEW, "no arithmetic", traits, more)


def exact(reason: str, names: str, *traits: Trait, **more: Any) -> Iterator[Operator]:
    """Declare exact operators that are so for one reason."""
    return _declared(names, OperatorClass.EXACT, reason, traits, more)


def rounded_operators(scale: str, bound: BoundRule, names: str, *traits: Trait, **more: Any) -> Iterator[Operator]:
    """Declare rounded operators of one scale rule (:mod:`.arithmetic.families`) and one error bound."""
    reason = "computed by a library whose last bits depend on the hardware"
    return _declared(names, OperatorClass.ROUNDED, reason, traits, {"scale": scale, "bound": bound, **more})


def _declared(
    names: str, operator_class: OperatorClass, reason: str, traits: tuple[Trait, ...], more: dict[str, Any]
) -> Iterator[Operator]:
    for short in names.split():
        yield Operator(f"aten.{short}", operator_class, reason, traits=frozenset(traits), **more)

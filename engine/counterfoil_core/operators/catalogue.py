"""The allow-list: every ATen operator that a program may use, with its class and the reason for it.

Three classes (docs/numerics.md):

* **view**: no arithmetic; the output shares or re-labels the input's values.
* **exact**: at most one correctly rounded IEEE-754 operation, or a selection, per element. Identical inputs give
  identical bits on all hardware, so the result is neither rounded nor logged.
* **rounded**: everything else. The result goes to the grid and the close decisions to the log. Each names the rule
  that bounds the size of the terms which were added to make an element
  (:mod:`counterfoil_core.arithmetic.families`).

The list is a security border as well: a bundle comes from a stranger, and the interpreter runs nothing outside it.
Only pure functions of their tensor arguments are here: no operator that writes to an argument, draws random numbers,
reads uninitialised memory, or has a shape that depends on values.
"""

from __future__ import annotations

from counterfoil_core.operators.convolutions import facts as convolutions
from counterfoil_core.operators.draws import facts as draws
from counterfoil_core.operators.facts import Operator, OperatorClass, Trait
from counterfoil_core.operators.indexing import facts as indexing
from counterfoil_core.operators.losses import facts as losses
from counterfoil_core.operators.moves import facts as moves
from counterfoil_core.operators.norms import facts as norms
from counterfoil_core.operators.pointwise import facts as pointwise
from counterfoil_core.operators.pooling import facts as pooling
from counterfoil_core.operators.products import facts as products
from counterfoil_core.operators.reductions import facts as reductions

_FAMILIES = (convolutions, draws, indexing, losses, moves, norms, pointwise, pooling, products, reductions)


def _build() -> tuple[dict[str, Operator], dict[str, Operator]]:
    primary: dict[str, Operator] = {}
    fallback: dict[str, Operator] = {}
    for family in _FAMILIES:
        for operator in family.FACTS:
            # An operator listed twice is exact under a condition (alpha, integer dtype) and rounded otherwise.
            table = fallback if operator.name in primary else primary
            if operator.name in table:
                raise AssertionError(f"{operator.name} is listed more than twice")
            table[operator.name] = operator
    return primary, fallback


_PRIMARY, _FALLBACK = _build()


def names_with(trait: Trait) -> frozenset[str]:
    """Full names of the operators that a trait is declared of."""
    return frozenset(
        operator.name for table in (_PRIMARY, _FALLBACK) for operator in table.values() if trait in operator.traits
    )


def kinds_with(trait: Trait) -> frozenset[str]:
    """Kinds of the operators that a trait is declared of."""
    return frozenset(name.split(".")[1] for name in names_with(trait))


FILLS = {operator.kind: operator.fills for operator in _PRIMARY.values() if operator.fills is not None}
"""Kinds that write a number as it is, with the position of that argument."""
_DEPENDS_ON_ALPHA = names_with(Trait.BY_ALPHA)
ROUNDED_UNLESS_INTEGER = (
    frozenset(
        name for name, entry in {**_PRIMARY, **_FALLBACK}.items() if entry.operator_class is OperatorClass.ROUNDED
    )
    - _DEPENDS_ON_ALPHA
)
"""Names of operators that are rounded, and exact where they compute integers (:mod:`.operators.uses`)."""


def decided_arguments(name: str, *, casts_away: bool) -> tuple[int, ...]:
    """Return the positions of the arguments on which a discrete decision of an operator hangs; none for most.

    Args:
        name: Full name of the operator.
        casts_away: Whether its first output is not floating-point.
    """
    operator = _PRIMARY.get(name)
    if operator is None:
        return ()
    return operator.decides or (operator.casts if casts_away else ())


def is_allowed(name: str) -> bool:
    """Whether an operator is on the allow-list."""
    return name in _PRIMARY


def allowed_names() -> tuple[str, ...]:
    """All names of the allow-list, sorted."""
    return tuple(sorted(_PRIMARY))


def classify(name: str, *, alpha: object = 1, floating: bool = True) -> Operator:
    """Return the allow-list entry that applies to one use of an operator.

    Args:
        name: Full name of the operator.
        alpha: Its argument ``alpha`` where it has one. With any other than 1 or -1 the product may be fused with the
            addition on some hardware and not on other, so the operator is rounded.
        floating: Whether any output is floating-point. Integer arithmetic is the same on all hardware.

    Raises:
        KeyError: The operator is not on the list.
    """
    operator = _PRIMARY[name]
    if not floating:
        if operator.operator_class is OperatorClass.ROUNDED:
            reason = "integer arithmetic is the same on all hardware"
            return Operator(name, OperatorClass.EXACT, reason, indices=operator.indices)
        return operator
    if name in _FALLBACK and (name not in _DEPENDS_ON_ALPHA or alpha not in (1, -1)):
        return _FALLBACK[name]
    return operator

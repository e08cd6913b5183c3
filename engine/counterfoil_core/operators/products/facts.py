"""What is known of products: error bounds, terms of exact profiles, types, classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from counterfoil_core.operators import sums
from counterfoil_core.operators.facts import Bound, Trait, Use, rounded_operators
from counterfoil_core.operators.limits import Limited
from counterfoil_core.operators.shaperules import Arguments, Results, ShapeRule, Typed, floats, require, spreads


def product(use: Use) -> Sequence[Bound]:
    """Matrix products: the inner length; three more for alpha, beta and what is added."""
    n = sums.inner_length(use.arguments)
    return [Bound((sums.in_parts(n, sums.part_length(n)) if use.own_form else n) + 3)]


def longest(use: Use) -> float:
    """Return the inner length."""
    return sums.inner_length(use.arguments)


def _inner(arguments: Arguments) -> tuple[int]:
    return (sums.inner_length(arguments),)


LIMITS: Mapping[str, Limited] = dict.fromkeys(("mm", "bmm", "mv", "dot"), Limited(products=_inner))
"""By operator kind."""


def _product(left: str, right: str, ranks: tuple[int, int], added: str = "") -> ShapeRule:
    """A product over the last axis of one and the first of the other, behind a batch's; and what it is added to."""

    def rule(arguments: Arguments) -> Results:
        x, y, *beside = floats(arguments, left, right, *([added] if added else ()))
        require((x.rank, y.rank) == ranks)
        batch = x.rank - 2 if x.rank > 2 else 0
        require(x.shape[-1] == y.shape[batch] and x.shape[:batch] == y.shape[:batch])
        result = Typed(x.dtype, (*x.shape[:-1], *y.shape[batch + 1 :]))
        for item in beside:
            spreads(item.shape, result.shape)
        return [result]

    return rule


RULES: dict[str, ShapeRule] = {
    "aten.mm.default": _product("self", "mat2", (2, 2)),
    "aten.addmm.default": _product("mat1", "mat2", (2, 2), "self"),
    "aten.mv.default": _product("self", "vec", (2, 1)),
    "aten.addmv.default": _product("mat", "vec", (2, 1), "self"),
    "aten.dot.default": _product("self", "tensor", (1, 1)),
    "aten.bmm.default": _product("self", "mat2", (3, 3)),
    "aten.baddbmm.default": _product("batch1", "batch2", (3, 3), "self"),
}
"""By operator."""


FACTS = (
    *rounded_operators(
        "mm",
        product,
        "mm.default addmm.default mv.default addmv.default dot.default",
        Trait.INTEGERS,
        Trait.SUMS,
        longest=longest,
    ),
    *rounded_operators("bmm", product, "bmm.default baddbmm.default", Trait.INTEGERS, Trait.SUMS, longest=longest),
)

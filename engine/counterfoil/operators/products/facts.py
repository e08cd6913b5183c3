"""What is known of each operator: products of matrices and vectors."""

from counterfoil.operators.facts import Trait, rounded

FACTS = (
    *rounded("mm", "mm.default addmm.default mv.default addmv.default dot.default", Trait.INTEGERS),
    *rounded("bmm", "bmm.default baddbmm.default", Trait.INTEGERS),
)

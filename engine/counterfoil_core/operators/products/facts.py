"""What is known of each operator: products of matrices and vectors."""

from counterfoil_core.operators.facts import Trait, rounded
from counterfoil_core.operators.products import bounds

FACTS = (
    *rounded(
        "mm",
        bounds.product,
        "mm.default addmm.default mv.default addmv.default dot.default",
        Trait.INTEGERS,
        Trait.SUMS,
        longest=bounds.longest,
    ),
    *rounded("bmm", bounds.product, "bmm.default baddbmm.default", Trait.INTEGERS, Trait.SUMS, longest=bounds.longest),
)

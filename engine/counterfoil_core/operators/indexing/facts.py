"""What is known of each operator: reads and writes at places that a tensor names, and sums of values that meet."""

from counterfoil_core.operators import indices
from counterfoil_core.operators.bounds import FUNCTION
from counterfoil_core.operators.facts import COPIES, Trait, exact, rounded
from counterfoil_core.operators.indexing import bounds

FACTS = (
    *exact(COPIES, "gather.default index_select.default", indices=indices.along_axis),
    *exact(COPIES, "index.Tensor", indices=indices.of_each_axis),
    *exact(COPIES, "embedding.default", indices=indices.of_rows),
    *exact(
        "writes one constant, so repeated indices do not matter", "scatter.value", fills=3, indices=indices.along_axis
    ),
    *exact(
        "writes values; of several for one place the last along the axis stays",
        "scatter.src",
        Trait.WRITES,
        indices=indices.along_axis,
    ),
    *exact(
        "selects the largest or the smallest of the values for a place",
        "scatter_reduce.two",
        Trait.WRITES,
        indices=indices.along_axis,
    ),
    *rounded(
        "scatter",
        bounds.meeting(FUNCTION),
        "embedding_dense_backward.default",
        Trait.SUMS,
        longest=bounds.longest,
        indices=indices.of_rows,
    ),
    *rounded(
        "scatter",
        bounds.meeting(2),
        "index_add.default",
        Trait.INTEGERS,
        Trait.SUMS,
        longest=bounds.longest,
        indices=indices.along_axis,
    ),
    *rounded(
        "scatter",
        bounds.meeting(1),
        "scatter_add.default",
        Trait.INTEGERS,
        Trait.SUMS,
        longest=bounds.longest,
        indices=indices.along_axis,
    ),
    *rounded(
        "scatter",
        bounds.meeting(1),
        "index_put.default",
        Trait.INTEGERS,
        Trait.SUMS,
        longest=bounds.longest,
        indices=indices.of_each_axis,
    ),
)

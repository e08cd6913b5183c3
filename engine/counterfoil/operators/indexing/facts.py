"""What is known of each operator: reads and writes at places that a tensor names, and sums of values that meet."""

from counterfoil.operators.bounds import FUNCTION
from counterfoil.operators.facts import COPIES, Trait, exact, rounded
from counterfoil.operators.indexing import bounds

FACTS = (
    *exact(COPIES, "gather.default index.Tensor index_select.default embedding.default"),
    *exact("writes one constant, so repeated indices do not matter", "scatter.value", fills=3),
    *exact("writes values; of several for one place the last along the axis stays", "scatter.src", Trait.WRITES),
    *exact("selects the largest or the smallest of the values for a place", "scatter_reduce.two", Trait.WRITES),
    *rounded("scatter", bounds.meeting(FUNCTION), "embedding_dense_backward.default", longest=bounds.longest),
    *rounded("scatter", bounds.meeting(2), "index_add.default", Trait.INTEGERS, longest=bounds.longest),
    *rounded(
        "scatter", bounds.meeting(1), "index_put.default scatter_add.default", Trait.INTEGERS, longest=bounds.longest
    ),
)

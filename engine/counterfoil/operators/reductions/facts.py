"""What is known of each operator: operators over axes: sums, extremes, spreads, norms, sorts and the softmax family."""

from counterfoil.operators.facts import COMPARES_OR_LOGIC, COUNTS, SELECTS, Trait, exact, rounded

FACTS = (
    *exact(SELECTS, "max.default min.default amax.default amin.default"),
    *exact(SELECTS, "max.dim min.dim argmax.default argmin.default sort.stable", decides=(0, 1)),
    *exact(COMPARES_OR_LOGIC, "any.default any.dim any.dims all.default all.dim", decides=(0, 1)),
    *exact(COUNTS, "cumsum.default"),
    *rounded("output", "_softmax.default _safe_softmax.default", Trait.LAST_BIT),
    *rounded("inputs", "_log_softmax.default logsumexp.default"),
    *rounded("sum", "sum.default sum.dim_IntList", Trait.INTEGERS),
    *rounded("mean", "mean.default mean.dim"),
    *rounded("prod", "prod.default prod.dim_int", Trait.INTEGERS),
    *rounded("var", "var.correction var_mean.correction"),
    *rounded("std", "std.correction"),
    *rounded("norm", "linalg_vector_norm.default norm.ScalarOpt_dim norm.Scalar"),
    *rounded("softmax_backward", "_softmax_backward_data.default"),
    *rounded("log_softmax_backward", "_log_softmax_backward_data.default"),
    *rounded("cumsum", "cumsum.default", Trait.INTEGERS),
)

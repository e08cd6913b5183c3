"""What is known of each operator: operators over axes: sums, extremes, spreads, norms, sorts and the softmax family."""

from counterfoil_core.operators.bounds import FUNCTION, always
from counterfoil_core.operators.facts import COMPARES_OR_LOGIC, COUNTS, SELECTS, Trait, exact, rounded
from counterfoil_core.operators.reductions import bounds

FACTS = (
    *exact(SELECTS, "max.default min.default amax.default amin.default"),
    *exact(SELECTS, "max.dim min.dim argmax.default argmin.default sort.stable", decides=(0, 1)),
    *exact(COMPARES_OR_LOGIC, "any.default any.dim any.dims all.default all.dim", decides=(0, 1)),
    *exact(COUNTS, "cumsum.default"),
    *rounded(
        "output",
        bounds.softmax,
        "_softmax.default _safe_softmax.default",
        Trait.LAST_BIT,
        longest=bounds.longest_along("self"),
    ),
    *rounded("inputs", bounds.log_softmax, "_log_softmax.default", longest=bounds.longest_along("self")),
    *rounded("inputs", bounds.log_softmax, "logsumexp.default", longest=bounds.longest),
    *rounded("sum", bounds.total, "sum.default sum.dim_IntList", Trait.INTEGERS, Trait.SUMS, longest=bounds.longest),
    *rounded("mean", bounds.mean, "mean.default mean.dim", longest=bounds.longest),
    *rounded("prod", bounds.product, "prod.default prod.dim_int", Trait.INTEGERS, longest=always),
    *rounded("var", bounds.variance, "var.correction var_mean.correction", longest=always),
    *rounded("std", bounds.variance, "std.correction", longest=always),
    *rounded(
        "norm",
        bounds.vector_norm,
        "linalg_vector_norm.default norm.ScalarOpt_dim norm.Scalar",
        Trait.INFINITE,
        longest=bounds.longest_of_norm,
    ),
    *rounded(
        "softmax_backward",
        bounds.gradient_along(4),
        "_softmax_backward_data.default",
        longest=bounds.longest_along("grad_output"),
    ),
    *rounded(
        "log_softmax_backward",
        bounds.gradient_along(FUNCTION + 4),
        "_log_softmax_backward_data.default",
        longest=bounds.longest_along("grad_output"),
    ),
    *rounded("cumsum", bounds.running_total, "cumsum.default", Trait.INTEGERS, Trait.SUMS, longest=bounds.longest),
)

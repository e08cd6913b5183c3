"""What is known of each operator: pooling and its gradients."""

from counterfoil_core.operators import indices
from counterfoil_core.operators.facts import SELECTS, Trait, exact, rounded
from counterfoil_core.operators.pooling import bounds

FACTS = (
    *exact(
        SELECTS,
        "max_pool2d_with_indices.default max_pool3d_with_indices.default adaptive_max_pool2d.default",
        decides=(0, 1),
    ),
    *rounded("inputs", bounds.average, "adaptive_avg_pool1d.default avg_pool1d.default"),
    *rounded(
        "inputs",
        bounds.average,
        "avg_pool2d.default avg_pool3d.default _adaptive_avg_pool2d.default _adaptive_avg_pool3d.default",
        longest=bounds.longest,
    ),
    *rounded(
        "overlap",
        bounds.covering_windows,
        "max_pool2d_with_indices_backward.default",
        Trait.SUMS,
        indices=indices.in_windows(2),
    ),
    *rounded(
        "overlap",
        bounds.covering_windows,
        "max_pool3d_with_indices_backward.default",
        Trait.SUMS,
        indices=indices.in_windows(3),
    ),
    *rounded("overlap", bounds.covering_windows, "avg_pool2d_backward.default avg_pool3d_backward.default"),
    *rounded(
        "overlap",
        bounds.adaptive_windows,
        "adaptive_max_pool2d_backward.default",
        Trait.SUMS,
        indices=indices.in_windows(2),
    ),
    *rounded(
        "overlap",
        bounds.adaptive_windows,
        "_adaptive_avg_pool2d_backward.default _adaptive_avg_pool3d_backward.default",
    ),
)

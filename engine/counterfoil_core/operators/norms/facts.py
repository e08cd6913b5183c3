"""What is known of each operator: batch, layer and group norm, and their gradients."""

from counterfoil_core.operators.bounds import always
from counterfoil_core.operators.facts import Trait, rounded
from counterfoil_core.operators.norms import bounds

FACTS = (
    *rounded(
        "batch_norm",
        bounds.batch_norm,
        "_native_batch_norm_legit_functional.default _native_batch_norm_legit.no_stats",
        longest=bounds.longest_of_batch_norm,
    ),
    *rounded("batch_norm", bounds.batch_norm, "_native_batch_norm_legit_no_training.default"),
    *rounded("batch_norm_backward", bounds.batch_norm_backward, "native_batch_norm_backward.default", longest=always),
    *rounded("layer_norm", bounds.layer_norm, "native_layer_norm.default", longest=always),
    *rounded(
        "layer_norm_backward",
        bounds.layer_norm_backward,
        "native_layer_norm_backward.default",
        Trait.CONTIGUOUS,
        longest=always,
    ),
    *rounded("group_norm", bounds.group_norm, "native_group_norm.default", Trait.CONTIGUOUS, longest=always),
    *rounded(
        "group_norm_backward",
        bounds.group_norm_backward,
        "native_group_norm_backward.default",
        Trait.CONTIGUOUS,
        longest=always,
    ),
)

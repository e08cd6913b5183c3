"""What is known of each operator: batch, layer and group norm, and their gradients."""

from counterfoil.operators.facts import Trait, rounded

FACTS = (
    *rounded(
        "batch_norm",
        """
        _native_batch_norm_legit_functional.default _native_batch_norm_legit.no_stats
        _native_batch_norm_legit_no_training.default
    """,
    ),
    *rounded("batch_norm_backward", "native_batch_norm_backward.default"),
    *rounded("layer_norm", "native_layer_norm.default"),
    *rounded("layer_norm_backward", "native_layer_norm_backward.default", Trait.CONTIGUOUS),
    *rounded("group_norm", "native_group_norm.default", Trait.CONTIGUOUS),
    *rounded("group_norm_backward", "native_group_norm_backward.default", Trait.CONTIGUOUS),
)

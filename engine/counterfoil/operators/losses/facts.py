"""What is known of each operator: losses and their gradients."""

from counterfoil.operators.facts import Trait, rounded

FACTS = (
    *rounded(
        "inputs",
        """
        mse_loss_backward.default smooth_l1_loss_backward.default huber_loss_backward.default
        binary_cross_entropy_backward.default nll_loss_backward.default
    """,
    ),
    *rounded("inputs", "nll_loss2d_backward.default", Trait.CONTIGUOUS),
    *rounded(
        "loss",
        """
        nll_loss_forward.default nll_loss2d_forward.default mse_loss.default smooth_l1_loss.default
        huber_loss.default binary_cross_entropy.default
    """,
    ),
)

"""What is known of each operator: losses and their gradients."""

from counterfoil.operators.facts import Trait, rounded

FACTS = (
    *rounded(
        "output",
        """
        mse_loss_backward.default smooth_l1_loss_backward.default huber_loss_backward.default nll_loss_backward.default
    """,
    ),
    *rounded("output", "nll_loss2d_backward.default", Trait.CONTIGUOUS),
    *rounded("output", "binary_cross_entropy_backward.default"),
    *rounded("loss", "mse_loss.default smooth_l1_loss.default huber_loss.default"),
    *rounded("nll_loss", "nll_loss_forward.default nll_loss2d_forward.default"),
    *rounded("binary_cross_entropy", "binary_cross_entropy.default"),
)

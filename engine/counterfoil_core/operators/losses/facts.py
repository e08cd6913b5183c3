"""What is known of each operator: losses and their gradients."""

from counterfoil_core.operators import indices
from counterfoil_core.operators.bounds import FUNCTION, constant
from counterfoil_core.operators.facts import Trait, rounded
from counterfoil_core.operators.losses import bounds

FACTS = (
    *rounded(
        "output", constant(8), "mse_loss_backward.default smooth_l1_loss_backward.default huber_loss_backward.default"
    ),
    *rounded("output", constant(8), "nll_loss_backward.default", indices=indices.of_labels),
    *rounded("output", constant(8), "nll_loss2d_backward.default", Trait.CONTIGUOUS, indices=indices.of_labels),
    *rounded("output", constant(FUNCTION + 8), "binary_cross_entropy_backward.default"),
    *rounded("loss", bounds.loss, "mse_loss.default smooth_l1_loss.default huber_loss.default", longest=bounds.longest),
    *rounded(
        "nll_loss",
        bounds.loss,
        "nll_loss_forward.default nll_loss2d_forward.default",
        longest=bounds.longest,
        indices=indices.of_labels,
    ),
    *rounded("binary_cross_entropy", bounds.loss, "binary_cross_entropy.default", longest=bounds.longest),
)

"""What is known of each operator: convolutions and their gradients."""

from counterfoil_core.operators.convolutions import bounds
from counterfoil_core.operators.facts import Trait, rounded

FACTS = (
    *rounded("convolution", bounds.convolution, "convolution.default", Trait.SUMS),
    *rounded(
        "convolution_backward",
        bounds.convolution_backward,
        "convolution_backward.default",
        Trait.SUMS,
        longest=bounds.longest_of_gradients,
    ),
)

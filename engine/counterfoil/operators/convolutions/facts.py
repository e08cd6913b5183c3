"""What is known of each operator: convolutions and their gradients."""

from counterfoil.operators.convolutions import bounds
from counterfoil.operators.facts import rounded

FACTS = (
    *rounded("convolution", bounds.convolution, "convolution.default"),
    *rounded(
        "convolution_backward",
        bounds.convolution_backward,
        "convolution_backward.default",
        longest=bounds.longest_of_gradients,
    ),
)

"""What is known of each operator: convolutions and their gradients."""

from counterfoil.operators.facts import rounded

FACTS = (
    *rounded("convolution", "convolution.default"),
    *rounded("convolution_backward", "convolution_backward.default"),
)

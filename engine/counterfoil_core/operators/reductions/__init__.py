"""Operators over axes: sums, extremes, spreads, norms, sorts and the softmax family."""

"""Loops over the elements of tensors: rounding, magnitudes, exact products and sums, hashes."""

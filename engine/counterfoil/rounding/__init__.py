"""Rounding: the grid, margins, scales, kernels, and the log of close decisions."""

"""Operators that work on each element alone, and their gradients."""

"""Reads and writes at places that a tensor names, and sums over values that meet there."""

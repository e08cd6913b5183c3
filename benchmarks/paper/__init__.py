"""Measures the paper's four experiments on this machine, for ``python -m benchmarks paper``."""

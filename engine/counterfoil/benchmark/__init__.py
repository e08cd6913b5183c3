"""Measures the paper's four experiments on this machine, for ``counterfoil bench paper``."""

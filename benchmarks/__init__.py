"""Benchmarks (``make bench``). Ratios are taken side by side in one run, never across runs."""

"""The laboratory: what measures Counterfoil, imitates other hardware for it, and writes its conformance vectors.

It is part of the source tree and of no installation; the product never imports it. ``python -m benchmarks`` lists its
commands.
"""

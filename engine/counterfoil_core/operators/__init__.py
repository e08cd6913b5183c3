"""What is known of each ATen operator that a program may use: its class and reason, its parameters, its uses.

What stands here is read by whoever captures, computes, bounds and judges; :mod:`counterfoil_core.operators.judge` is
the judge's own, and shares no code with what computes.
"""

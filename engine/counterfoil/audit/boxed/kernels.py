"""A process that compiles kernels for those in boxes, which may read what is kept and not write it.

It reads nothing but the installation: what is compiled is what the self-test of a machine needs, which each replay
begins with, under every profile.
"""

from __future__ import annotations

from counterfoil import kernelcache
from counterfoil.bundle.precision import ExactPrecision, Precision
from counterfoil.errors import CounterfoilError
from counterfoil.machine import open_machine
from counterfoil.selftest import run_selftest


def main() -> int:
    """Compile them; the exit code says whether all could be kept."""
    machine = open_machine("cpu")
    for precision in (Precision(), ExactPrecision(20)):
        try:
            run_selftest(machine, precision)
        except CounterfoilError:  # the replay will say so
            return 1
    return int(not kernelcache.keep_place())

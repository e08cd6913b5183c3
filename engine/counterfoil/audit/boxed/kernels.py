"""A process that compiles kernels for those in boxes, which may read what is kept and not write it.

It reads nothing but the installation. What is compiled is what a replay calls, by its declaration where that says with
which types, and by the self-test of a machine for the others.
"""

from __future__ import annotations

import counterfoil.audit.session  # noqa: F401  declares whatever a replay calls
from counterfoil.arithmetic.machine import open_machine
from counterfoil.arithmetic.selftest import run_selftest
from counterfoil.base.errors import CounterfoilError
from counterfoil.base.precision import ExactPrecision, Precision
from counterfoil.kernels.cache import keep_place
from counterfoil.kernels.cpu.regions import Region


def main() -> int:
    """Compile them; the exit code says whether all could be kept."""
    machine = open_machine("cpu")
    Region.compile_all()
    for precision in (Precision(), ExactPrecision(20)):
        try:
            run_selftest(machine, precision)
        except CounterfoilError:  # the replay will say so
            return 1
    return int(not keep_place())

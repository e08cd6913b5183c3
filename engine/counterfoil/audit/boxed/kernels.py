"""A process that compiles kernels ahead of their first use, also for processes in boxes, which cannot keep any.

It reads nothing but the installation. It says what parts there are, compiles those that it is told, and says when each
is done (:mod:`counterfoil.audit.boxed.compilation`). What is compiled is what a recording or a replay calls: by its
declaration where that says with which types, and by the self-test of a machine for the others.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import partial

from counterfoil.audit.boxed.compilation import COMPILES, Kernels
from counterfoil.talk.line import Line
from counterfoil.talk.table import COMPILER
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.arithmetic.selftest import run_selftest
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision, Precision
from counterfoil_core.commit.sha256 import compiled_loops
from counterfoil_core.kernels.cache import compile_ahead, keep_place
from counterfoil_core.kernels.cpu.regions import Region

HOMES = (
    "arithmetic.grid.directions", "arithmetic.grid.instructions", "arithmetic.otherwise.rewriting.additions",
    "arithmetic.grid.log", "arithmetic.grid.tiles", "bundle.hdf5.checksumloops", "kernels.cpu.convolutionloops",
    "kernels.cpu.formulas", "kernels.cpu.magnitudes", "kernels.cpu.measures", "kernels.cpu.norms",
    "kernels.exact.philox", "kernels.cpu.rounding", "kernels.cpu.pairsums", "kernels.exact.bracket",
    "kernels.exact.combine", "kernels.exact.digitproducts",
    "kernels.exact.digitconvolutions", "kernels.exact.cpusums", "kernels.exact.int16_matrices",
    "kernels.exact.quantise", "kernels.exact.rows",
)  # fmt: skip
"""The modules that declare kernels."""
TESTED: tuple[AnyPrecision, ...] = (Precision(), ExactPrecision(20), ExactPrecision(13))
"""A profile of each kind: rounded, and exact with three digits and with two."""


def main() -> None:
    """Compile what is asked for."""
    Line(COMPILER, COMPILES).serve(Kernels(parts(), lambda: bool(keep_place())))


def parts() -> Mapping[str, Callable[[], object]]:
    """Load all modules with kernels; return what compiles a part of them each, by its name."""
    for home in HOMES:
        importlib.import_module(f"counterfoil_core.{home}")
    machine = open_machine("cpu", 1)
    return {
        **{region.name: region.compile for region in reversed(Region.declared())},
        **{f"self-test {number}": partial(run_selftest, machine, tested) for number, tested in enumerate(TESTED, 1)},
        "loops of SHA-256": compiled_loops,  # they call OpenSSL's functions, and are declared when they are asked for
        "others": compile_ahead,
    }

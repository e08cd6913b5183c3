"""Compiled loops once more, every index checked, and without torch's own threads: the same tests, the same bits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ENGINE = Path(__file__).parents[1]
FILES = (
    "kernels/test_regions.py",
    "kernels/test_rounding.py",
    "kernels/test_formulas.py",
    "kernels/exact/test_fused.py",
    "arithmetic/compute/test_chained.py",
    "arithmetic/compute/test_normalising.py",
    "arithmetic/compute/test_convolving.py",
    "kernels/exact/test_int16_matrices.py",
    "arithmetic/grid/test_following.py",
    "arithmetic/grid/test_magnitude.py",
)
"""What calls each compiled loop that reads memory by its address."""
CHECKED = {"NUMBA_BOUNDSCHECK": "1", "COUNTERFOIL_REGIONS": "0", "OMP_NUM_THREADS": "2"}
OUTSIDE = """
import numpy as np
from counterfoil_core.kernels.cache import kernel
from counterfoil_core.kernels.cpu import regions

@kernel(nogil=True)
def at(x, place):
    return x[place]

try:
    at(np.zeros(3), 3)
except IndexError:
    print("checked", regions._team() is None)
"""


def ran(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command], env={**os.environ, **CHECKED}, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_no_loop_looks_outside_its_memory() -> None:
    """In one process for both switches: each loop is compiled anew with checks, where no such build is kept."""
    files = [str(ENGINE / name) for name in FILES]
    assert " passed" in ran("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow and not gpu", *files)


@pytest.mark.slow
def test_the_switches_are_heard() -> None:
    """The control: an index outside is an error, and no threads of torch's are looked for."""
    assert ran("-c", OUTSIDE).split() == ["checked", "True"]

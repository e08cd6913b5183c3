"""Where kernels written in Triton are tested: on a CUDA device; or on the CPU, interpreted or compiled.

The CPU takes them twice over: Triton's interpreter runs their source, and the machine of ``tests/ptx`` what is compiled
of it for the oldest device and for one with other instructions. Import this module before any that holds such kernels.
``tests/conftest.py`` chooses the interpreter, and the compiler for tests marked ``ptx``.
"""

from __future__ import annotations

import pytest
import torch

pytest.importorskip("triton")

import ptx.driver  # noqa: F401  Before anything is interpreted: it keeps Triton's library as it is.

ON_DEVICE = torch.cuda.is_available()
COMPILED = [] if ON_DEVICE else [pytest.mark.ptx(75, 1), pytest.mark.ptx(90, 2)]
"""Marks: for which devices kernels are compiled to run on the machine, and the seed of its order."""


def on_machine(value: str) -> list[object]:
    """Return a parameter for each of the marks, so that a test with it runs on the machine."""
    return [pytest.param(value, marks=mark, id=f"{value}-sm_{mark.args[0]}") for mark in COMPILED]


GPU = [pytest.mark.gpu] if ON_DEVICE else []
"""The mark of what runs on a device, where there is one: so ``make gpu`` finds it."""
DEVICES = [pytest.param("cuda:0", marks=GPU)] if ON_DEVICE else ["cpu", *on_machine("cpu")]
"""Parameters for a test that takes ``device``."""

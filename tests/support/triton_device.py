"""Where kernels written in Triton are tested: on a CUDA device; or on the CPU, interpreted or compiled.

The CPU takes them twice over: Triton's interpreter runs their source, and the machine of ``tests/ptx`` what is compiled
of it for the oldest device and for one with other instructions. Import this module before any that holds such kernels.
``tests/conftest.py`` chooses the interpreter, and the compiler for tests marked ``ptx``.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

pytest.importorskip("triton")

import triton.language as tl
from triton.runtime.interpreter import InterpreterBuilder

import ptx.driver  # noqa: F401  Before anything is interpreted: it keeps Triton's library as it is.

_multiplied = InterpreterBuilder.create_dot


def _dot(builder: InterpreterBuilder, a: Any, b: Any, *others: Any) -> Any:
    """Multiply numbers of bfloat16 as such: the interpreter takes their bits for integers."""
    if a.dtype.scalar == tl.bfloat16:
        a, b = builder.cast_impl(a, tl.float32), builder.cast_impl(b, tl.float32)
    return _multiplied(builder, a, b, *others)


InterpreterBuilder.create_dot = _dot

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

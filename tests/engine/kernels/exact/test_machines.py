"""The same bits under every instruction set that this processor has, and on one and two threads, in one digest."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from support.kernel_digests import kernel_digests

TESTS = Path(__file__).parents[3]
OWN = "as it is"
SETTINGS = {
    OWN: {},
    "AVX2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    },
    "AVX-512 without 8-bit dot products": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE"},
    "SSE4": {
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
    },
}

QUICK = (OWN, "SSE4")
EACH = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in SETTINGS]


@cache
def digests(setting: str, threads: int = 1) -> tuple[str, str, set[str]]:
    """As :func:`kernel_digests`, by a process of its own where libraries are to be loaded under a setting."""
    if setting == OWN:
        return kernel_digests(threads)
    command = [sys.executable, "-m", "support.kernel_digests"]
    environment = os.environ | SETTINGS[setting]
    found = subprocess.run(command, cwd=TESTS, env=environment, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr
    defined, plain, *names = found.stdout.split()
    return defined, plain, set(names)


@pytest.mark.parametrize("setting", EACH)
def test_every_instruction_set_gives_the_same_bits(setting: str) -> None:
    """On this machine's own, two threads do."""
    assert (digests(OWN, 2) if setting == OWN else digests(setting))[0] == digests(OWN)[0]


def test_the_same_in_float32_does_not() -> None:
    """The control."""
    assert digests("SSE4")[1] != digests(OWN)[1]


@pytest.mark.parametrize("setting", EACH)
def test_digits_of_six_bits_never_saturate(setting: str) -> None:
    """Products of whole bytes may, without 8-bit dot products; sums of two digits are then left out, and only they."""
    found = digests(setting)[2]
    assert found >= {"float64", "float32", "int8"}
    assert ("karatsuba" in found) != ("saturates" in found)

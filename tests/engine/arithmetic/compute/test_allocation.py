from __future__ import annotations

import platform
import subprocess
import sys

import pytest

_PROGRAM = """
import resource
from counterfoil.arithmetic.compute.allocation import give_back_freed_memory, keep_freed_memory

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

assert {keep} is False or keep_freed_memory()
block = b"x" * (64 << 20)
del block
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(4):
    block = b"x" * (64 << 20)
    del block
faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
held = resident()
give_back_freed_memory()
print(faults, held - resident())
"""


def _run(*, keep: bool) -> tuple[int, int]:
    """Page faults of taking 64 MiB four times, and the bytes that are given back afterwards."""
    command = [sys.executable, "-c", _PROGRAM.format(keep=keep)]
    faults, given = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return int(faults), int(given)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_freed_memory_is_kept_and_given_back():
    faults, given = _run(keep=True)
    assert faults < 100
    assert given > 60 << 20
    without, _ = _run(keep=False)
    assert without > 100

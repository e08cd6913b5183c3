from __future__ import annotations

import platform
import subprocess
import sys

import pytest

_PROGRAM = """
import resource
from counterfoil_core.arithmetic.compute.allocation import give_back_freed_memory, keep_freed_memory

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


_IDLE = """
from counterfoil_core.arithmetic.compute.allocation import BeforeTheUpdate, idle_memory, keep_freed_memory

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

keep_freed_memory()
blocks = [b"x" * (1 << 20) for _ in range({size})]
pinned = blocks[::16]
del blocks
held, idle = resident(), idle_memory()
look = BeforeTheUpdate(10).look
look(9)
early = held - resident()
look(10)
given = held - resident()
blocks = [b"x" * (1 << 20) for _ in range({size})]
del blocks
again = resident()
look(11)
print(early, given, idle, again - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_what_the_passes_left_is_given_back_once_where_it_is_much():
    """Pieces that are still in use lie between those that are not."""

    def run(size: int) -> list[int]:
        program = _IDLE.replace("{size}", str(size))
        done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
        return [int(number) for number in done.stdout.split()]

    early, given, idle, later = run(400)
    assert idle > 300 << 20
    assert early < 8 << 20, "not before its time"
    assert given > 300 << 20
    assert later < 8 << 20, "once in a step"
    early, given, idle, _ = run(100)
    assert 80 << 20 < idle < 256 << 20
    assert given < 8 << 20, "the control: little stays"

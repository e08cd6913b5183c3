"""The seccomp filter of a box: classic BPF over ``struct seccomp_data`` (seccomp(2), linux/filter.h), as data.

A call that is refused returns EPERM. Of calls that are newer than :data:`counterfoil.sandbox.calls.HIGHEST`, and of
``clone3``, whose flags lie in memory where no filter looks, it says that there are none: libraries then use older ones.
A call by the numbers of another architecture ends the process.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from counterfoil.sandbox.calls import HIGHEST, Architecture

LOAD = 0x20
"""``BPF_LD | BPF_W | BPF_ABS``: take 32 bits of the call's data."""
AND = 0x54
"""``BPF_ALU | BPF_AND | BPF_K``: keep the bits of a mask."""
EQUAL, GREATER, AT_LEAST, ANY_BIT = 0x15, 0x25, 0x35, 0x45
"""Jumps: ``BPF_JMP | BPF_K`` with ``BPF_JEQ``, ``BPF_JGT``, ``BPF_JGE``, ``BPF_JSET``."""
RETURN = 0x06
ALLOW, KILL = 0x7FFF0000, 0x80000000
REFUSE = 0x00050000 | errno.EPERM
ABSENT = 0x00050000 | errno.ENOSYS

NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
"""Places in ``struct seccomp_data``; the low half of an argument comes first: both architectures are little-endian."""
CLONE_THREAD = 0x00010000
X32 = 0x40000000
"""Set in the numbers of x86-64's second interface, which refers to other calls by the same numbers."""
ALLOWED_IOCTLS = {
    "TCGETS": 0x5401, "TIOCGWINSZ": 0x5413, "FIONREAD": 0x541B, "FIONBIO": 0x5421, "FIONCLEX": 0x5450,
    "FIOCLEX": 0x5451,
}  # fmt: skip
"""Whether this is a terminal, how much there is to read, and what becomes of a descriptor. Any other types into the
user's terminal, lets the kernel send signals for us, or changes what a file system keeps of a file."""
REFUSED_FCNTLS = {"F_SETOWN": 8, "F_SETSIG": 10, "F_SETOWN_EX": 15, "F_SETLEASE": 1024, "F_NOTIFY": 1026}
"""What lets the kernel send signals for us, to others or when others open a file."""
SHARED_ANONYMOUS = 0x21
"""``MAP_SHARED | MAP_ANONYMOUS``: such memory counts against no limit of the process, and nobody shares it here."""


@dataclass(frozen=True)
class Instruction:
    """One instruction: a ``struct sock_filter``."""

    code: int  #: What it does.
    yes: int  #: How many instructions a jump goes over where its condition holds.
    no: int  #: Where it does not.
    value: int  #: Its operand.


def make_filter(architecture: Architecture, process: int) -> tuple[Instruction, ...]:
    """Return the filter of a process.

    Args:
        architecture: Whose numbers.
        process: The id of the process, which may send signals to itself, and to nobody else.
    """
    program = [
        _load(ARCHITECTURE),
        Instruction(EQUAL, 1, 0, architecture.audit),
        _return(KILL),
        _load(NUMBER),
        Instruction(AT_LEAST, 0, 1, X32),
        _return(REFUSE),
        Instruction(GREATER, 0, 1, HIGHEST),
        _return(ABSENT),
    ]
    number = architecture.looked_at
    program += _on(number["clone3"], [_return(ABSENT)])
    thread = [_load(ARGUMENTS), Instruction(ANY_BIT, 0, 1, CLONE_THREAD), _return(ALLOW), _return(REFUSE)]
    program += _on(number["clone"], thread)
    for name in ("kill", "tgkill", "rt_tgsigqueueinfo"):
        program += _on(number[name], _one_of(0, (process,), ALLOW, REFUSE))
    for name in ("prlimit64", "sched_setaffinity"):  # 0 is oneself
        program += _on(number[name], _one_of(0, (0, process), ALLOW, REFUSE))
    program += _on(number["ioctl"], _one_of(1, ALLOWED_IOCTLS.values(), ALLOW, REFUSE))
    program += _on(number["fcntl"], _one_of(1, REFUSED_FCNTLS.values(), REFUSE, ALLOW))
    shared = [_load(ARGUMENTS + 8 * 3), Instruction(AND, 0, 0, SHARED_ANONYMOUS)]
    shared += [Instruction(EQUAL, 0, 1, SHARED_ANONYMOUS), _return(REFUSE), _return(ALLOW)]
    program += _on(number["mmap"], shared)
    for refused in sorted(architecture.refused.values()):
        program += _on(refused, [_return(REFUSE)])
    return (*program, _return(ALLOW))


def encode(program: Iterable[Instruction]) -> bytes:
    """Return a filter as the kernel takes it: an array of ``struct sock_filter``."""
    return b"".join(struct.pack("<HBBI", one.code, one.yes, one.no, one.value) for one in program)


def _load(place: int) -> Instruction:
    return Instruction(LOAD, 0, 0, place)


def _return(value: int) -> Instruction:
    return Instruction(RETURN, 0, 0, value)


def _on(number: int, then: list[Instruction]) -> list[Instruction]:
    """Do something with one call; it must end by returning, since it may take another value."""
    return [Instruction(EQUAL, 0, len(then), number), *then]


def _one_of(argument: int, values: Iterable[int], found: int, other: int) -> list[Instruction]:
    """Return one thing if the low half of an argument is one of some values, and another if not."""
    tests = [each for value in values for each in (Instruction(EQUAL, 0, 1, value), _return(found))]
    return [_load(ARGUMENTS + 8 * argument), *tests, _return(other)]

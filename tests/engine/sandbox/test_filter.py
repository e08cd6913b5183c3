"""The filter of system calls, run by an interpreter of its instructions: for both architectures, on any machine."""

from __future__ import annotations

import errno
import re
from pathlib import Path

import pytest

from counterfoil.sandbox import filter as seccomp
from counterfoil.sandbox.calls import ARCHITECTURES, HIGHEST, Architecture

PROCESS = 4321
REFUSED, ABSENT, ALLOWED = "refused", "absent", "allowed"
_MEANING = {
    seccomp.REFUSE: REFUSED,
    seccomp.ABSENT: ABSENT,
    seccomp.ALLOW: ALLOWED,
    seccomp.KILL: "ended",
}
HEADERS = {"x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "aarch64": "/usr/include/asm-generic/unistd.h"}
both = pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=lambda one: one.name)


def decided(architecture: Architecture, number: int, *arguments: int, audit: int | None = None) -> str:
    """What the filter says of a call: BPF as the kernel runs it (Documentation/networking/filter.rst)."""
    words = {seccomp.NUMBER: number, seccomp.ARCHITECTURE: architecture.audit if audit is None else audit}
    for index in range(6):
        value = arguments[index] if index < len(arguments) else 0
        words[seccomp.ARGUMENTS + 8 * index] = value & 0xFFFFFFFF
        words[seccomp.ARGUMENTS + 8 * index + 4] = value >> 32 & 0xFFFFFFFF
    program = seccomp.make_filter(architecture, PROCESS)
    assert len(program) <= 4096
    taken = place = 0
    while True:
        one = program[place]
        assert all(0 <= each <= 255 for each in (one.yes, one.no))
        place += 1
        if one.code == seccomp.LOAD:
            taken = words[one.value]
        elif one.code == seccomp.AND:
            taken &= one.value
        elif one.code == seccomp.RETURN:
            return _MEANING[one.value]
        else:
            holds = {
                seccomp.EQUAL: taken == one.value,
                seccomp.GREATER: taken > one.value,
                seccomp.AT_LEAST: taken >= one.value,
                seccomp.ANY_BIT: bool(taken & one.value),
            }[one.code]
            place += one.yes if holds else one.no


@both
def test_what_is_refused_is_refused_and_nothing_else(architecture: Architecture) -> None:
    names = {number: name for name, number in architecture.refused.items()}
    names |= {number: name for name, number in architecture.looked_at.items()}
    for number in range(HIGHEST + 1):
        found = decided(architecture, number)
        if number in architecture.refused.values():
            assert found == REFUSED, names[number]
        elif number not in names:
            assert found == ALLOWED, number
    assert all(decided(architecture, number) == ABSENT for number in (HIGHEST + 1, 463, 1000))


@both
def test_numbers_of_another_architecture_end_the_process(architecture: Architecture) -> None:
    i386 = 0x40000003
    assert decided(architecture, 1, audit=i386) == "ended"
    assert decided(architecture, 1) == ALLOWED
    assert decided(architecture, seccomp.X32 | 1) == REFUSED


@both
def test_threads_stay_and_processes_do_not_start(architecture: Architecture) -> None:
    clone = architecture.looked_at["clone"]
    of_a_thread = 0x003D0F00
    assert decided(architecture, clone, of_a_thread) == ALLOWED
    for flags in (0x11, 0x01200011, 0x10000000 | 0x11, of_a_thread << 32):
        assert decided(architecture, clone, flags) == REFUSED
    assert decided(architecture, architecture.looked_at["clone3"]) == ABSENT


@both
@pytest.mark.parametrize("name", ["kill", "tgkill", "rt_tgsigqueueinfo"])
def test_signals_go_to_oneself_only(architecture: Architecture, name: str) -> None:
    number = architecture.looked_at[name]
    assert decided(architecture, number, PROCESS, 6) == ALLOWED
    # Another process, a group, everybody, and a number that the kernel cuts to its low half.
    for other in (PROCESS + 1, 0, 2**64 - 1, 2**64 - PROCESS, 1):
        assert decided(architecture, number, other, 6) == REFUSED
    assert decided(architecture, number, 2**32 + PROCESS) == ALLOWED


@both
def test_arguments_that_reach_others(architecture: Architecture) -> None:
    number = architecture.looked_at
    assert decided(architecture, number["prlimit64"], 0) == ALLOWED
    assert decided(architecture, number["prlimit64"], PROCESS) == ALLOWED
    assert decided(architecture, number["prlimit64"], 7) == REFUSED
    assert decided(architecture, number["sched_setaffinity"], 7) == REFUSED
    for value in seccomp.ALLOWED_IOCTLS.values():
        assert decided(architecture, number["ioctl"], 1, value) == ALLOWED
    # TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP, FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION, FICLONE
    for value in (0x5412, 0x541C, 0x8901, 0x8902, 0x40086602, 0x401C5820, 0x40087602, 0x40049409):
        assert decided(architecture, number["ioctl"], 1, value) == REFUSED
        assert decided(architecture, number["ioctl"], 1, 2**32 + value) == REFUSED
    for value in seccomp.REFUSED_FCNTLS.values():
        assert decided(architecture, number["fcntl"], 1, value, 7) == REFUSED
    assert decided(architecture, number["fcntl"], 1, 3) == ALLOWED
    for flags, found in ((0x21, REFUSED), (0x4021, REFUSED), (0x22, ALLOWED), (0x01, ALLOWED), (0x20, ALLOWED)):
        assert decided(architecture, number["mmap"], 0, 4096, 3, flags) == found


@both
def test_numbers_are_those_of_the_headers(architecture: Architecture) -> None:
    header = Path(HEADERS[architecture.name])
    if not header.is_file():
        pytest.skip("this machine has no headers of the kernel")
    found = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text()))
    for name, number in {**architecture.refused, **architecture.looked_at, **architecture.asked}.items():
        assert int(found[name]) == number, name


def test_as_the_kernel_takes_it() -> None:
    program = seccomp.make_filter(ARCHITECTURES["x86_64"], 1)
    encoded = seccomp.encode(program)
    assert len(encoded) == 8 * len(program)
    assert encoded[:8] == bytes.fromhex("2000000004000000")
    assert encoded[-8:] == bytes.fromhex("060000000000ff7f")
    assert seccomp.REFUSE & 0xFFFF == errno.EPERM

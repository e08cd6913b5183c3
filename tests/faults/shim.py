"""Calls of the C library that fail: built from ``shim.c``, put before it by the dynamic linker, armed in a process."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("shim.c")
KINDS = (
    "open",
    "read",
    "write",
    "sync",
    "rename",
    "link",
    "unlink",
    "truncate",
    "mkdir",
    "map",
    "allocate",
    "allocate much",
)
"""As ``shim.c`` counts calls; an allocation has 4 KiB or more, a large one 64 KiB."""
VARIABLE = "COUNTERFOIL_FAULT"


def can_preload() -> bool:
    """Whether this machine can build the library and put it before the C library: GNU's, and a compiler for it."""
    return sys.platform == "linux" and shutil.which("gcc") is not None and os.path.exists("/etc/debian_version")


def build(folder: Path) -> Path:
    """Compile ``shim.c`` into a folder; returns the library."""
    library = folder / "shim.so"
    command = ["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return library


def begin(fault: Mapping[str, Any]) -> None:
    """Arm this process, or those that it will start, and go to the folder of the files that count.

    Args:
        fault: ``folder``: files under it count. ``kind``: one of ``KINDS``, or empty to count only. ``call``: which
            call of this kind fails, from 1. ``number``: the error number. ``half``: do half of what is asked instead.
            ``lasting``: every later call fails too. ``children``: not in this process, in those that it starts.
            ``report``: a file for :func:`end`.
    """
    os.chdir(fault["folder"])
    half, lasting = int(fault["half"]), int(fault["lasting"])
    if fault["children"]:
        numbers = f"{fault['call']} {fault['number']} {half} {lasting}"
        os.environ[VARIABLE] = f"{numbers} {fault['kind']}:{fault['folder']}"
        return
    kind = fault["kind"]
    found = ctypes.CDLL(None).fault_arm(
        os.fsencode(fault["folder"]),
        kind.encode(),
        ctypes.c_long(fault["call"]),
        fault["number"],
        half,
        lasting,
    )
    assert found == (KINDS.index(kind) if kind else -1), f"no kind of call: {kind!r}"


def end(fault: Mapping[str, Any]) -> None:
    """Let nothing fail any more, and write down how often each kind was called, and how many calls failed."""
    if fault["children"]:
        return
    counts = (ctypes.c_long * (len(KINDS) + 1))()
    ctypes.CDLL(None).fault_end(counts)
    Path(fault["report"]).write_text(json.dumps(dict(zip((*KINDS, "failed"), counts, strict=True))))

"""What this process can say of the machine without loading anything that may fail."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import struct
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version as version_of
from pathlib import Path

import platformdirs

from counterfoil import __version__
from counterfoil.base.bounded import within
from counterfoil.base.sealing import state_home
from counterfoil.doctor.installed import compare_installation
from counterfoil.doctor.seen import Folder, Package, System
from counterfoil.sandbox.box import SWITCH
from counterfoil_core.base.memory import memory_available, memory_total
from counterfoil_core.base.sentence import say

NEEDED = ("torch", "numpy", "numba", "llvmlite", "h5py", "msgspec", "cryptography", "securesystemslib", "safetensors")
"""Packages without which something of the engine does not work."""
OF_THE_WINDOW = ("PySide6-Essentials", "pyqtgraph", "segno")
"""Packages without which the window does not open."""
OPTIONAL = ("triton", "fsspec", "keyring", "ray", "transformers")
"""Packages that add something; only those that are there are said."""
VARIABLES = (
    SWITCH, "CUDA_VISIBLE_DEVICES", "MKL_NUM_THREADS", "NUMBA_BOUNDSCHECK", "NUMBA_CACHE_DIR", "NUMBA_CPU_NAME",
    "NUMBA_DISABLE_JIT", "OMP_NUM_THREADS", "QT_QPA_PLATFORM", "TRITON_INTERPRET",
)  # fmt: skip
"""Environment variables that change how it works."""
NAME_SECONDS = 5.0
"""How long an address for this machine's own name is waited for."""


def look_at_system() -> System:
    """Return what is known of this machine without loading torch, numba or Qt."""
    found = compare_installation()
    name, nameless = look_at_name()
    return System(
        version=__version__,
        python=sys.version_info[:3],
        platform=platform.platform(),
        name=name,
        nameless=nameless,
        bits=struct.calcsize("P") * 8,
        processors=_processors(),
        memory=memory_total(),
        available=memory_available(),
        packages=tuple(_packages()),
        folders=tuple(_folders()),
        installed=found.compared,
        differing=(*found.changed, *found.missing, *found.unknown),
        not_compared=found.why_not,
        variables=tuple((name, os.environ[name]) for name in VARIABLES if name in os.environ),
    )


def look_at_name() -> tuple[str, str]:
    """Return this machine's own name as torchrun takes it, and why no address is found by it; empty where one is.

    It is the only name that is asked for. A name service that is not there may answer late: so long nobody waits.
    """

    def ask() -> tuple[str, str]:
        name = socket.getfqdn()
        try:
            socket.getaddrinfo(name, None)
        except (OSError, UnicodeError) as error:  # the latter for what cannot be a name
            return name, getattr(error, "strerror", None) or str(error)
        return name, ""

    try:
        return within(NAME_SECONDS, ask)
    except TimeoutError:
        return socket.gethostname(), say("no answer within {0:.0f} seconds", NAME_SECONDS)


def _processors() -> int | None:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count()


def _packages() -> Iterator[Package]:
    for name in (*NEEDED, *OF_THE_WINDOW, *OPTIONAL):
        try:
            yield Package(name, version_of(name))
        except PackageNotFoundError:
            if name not in OPTIONAL:
                yield Package(name, "")


def _folders() -> Iterator[Folder]:
    places = (
        (say("Progress of audits, and secrets of this user"), state_home),
        (say("Cache of this user"), lambda: platformdirs.user_cache_path("counterfoil", appauthor=False)),
        (say("Temporary files"), lambda: Path(tempfile.gettempdir())),
    )
    for what, place in places:
        try:
            yield look_at_folder(what, place())
        except (OSError, RuntimeError):  # nobody knows where this user is at home, or no folder takes a file
            yield Folder(what, "", False, None)


def look_at_folder(what: str, path: Path) -> Folder:
    """Return whether a folder can be written to; nothing is left in it, and it is not made.

    Args:
        what: What it is for.
        path: Where it is.
    """
    there = next(each for each in (path, *path.parents) if each.exists())
    try:
        tempfile.TemporaryFile(dir=there).close()
        writable = True
    except OSError:
        writable = False
    try:
        free: int | None = shutil.disk_usage(there).free
    except OSError:
        free = None
    return Folder(what, str(path), writable, free)

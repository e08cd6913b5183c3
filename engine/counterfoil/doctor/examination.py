"""Examines this machine: asks each part of it, and makes its page of what was seen."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import struct
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version as version_of
from importlib.util import find_spec
from pathlib import Path

import platformdirs

from counterfoil import __version__
from counterfoil.base.bounded import within
from counterfoil.base.seal import state_home
from counterfoil.doctor.findings import MachinePage, facts_of
from counterfoil.doctor.installation import compare_installation
from counterfoil.doctor.observations import LOOKS, Broken, Folder, Loaded, Package, Seen, SelfTest, System, look
from counterfoil.sandbox.box import SWITCH
from counterfoil.talk.failure import FaultError
from counterfoil.talk.process import Process, Start, Words
from counterfoil.talk.table import LOOK_AT_DISPLAY, LOOK_AT_KERNELS, LOOK_AT_SANDBOX, Program
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, CounterfoilError
from counterfoil_core.base.memory import memory_available, memory_total
from counterfoil_core.base.sentence import joined, say

# What this process can say of the machine without loading anything that may fail.

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


FAMILIES = 4
"""How many self-tests there are for a device."""
PROGRAMS = (LOOK_AT_SANDBOX, LOOK_AT_KERNELS, LOOK_AT_DISPLAY)
"""The processes that look at a part each."""
_LAST_LINES = 3


@dataclass(frozen=True)
class MachineProgress:
    """How far the examination is."""

    done: int  #: Parts that were looked at.
    total: int  #: All parts, as far as they are known.
    part: str  #: What it is at, in a few words.


def examine_machine(cancel: CancelToken | None = None) -> Iterator[MachineProgress | MachinePage]:
    """Look at this machine and test it; the last value is its page.

    It works, and says so, where torch, numba or Qt are missing or broken: what may end a process is looked at by
    another.

    Args:
        cancel: Ends it.

    Raises:
        CancelledError: It was cancelled.
    """
    cancel = cancel or CancelToken()
    total, done = 1 + len(PROGRAMS) + FAMILIES, 0
    yield MachineProgress(done, total, say("versions and folders"))
    seen: list[Seen] = [look_at_system()]
    titles = {"sandbox": say("sandbox"), "kernels": say("devices, kernels and self-tests"), "display": say("display")}
    with cancel.looked_at():
        for program in PROGRAMS:
            done += 1
            yield MachineProgress(done, total, titles[program.name])
            for each in _asked(program.name, program, cancel):
                seen.append(each)
                if isinstance(each, Loaded):
                    total += FAMILIES * (len(each.devices) - 1)
                if isinstance(each, SelfTest):
                    done += 1
                    yield MachineProgress(done, total, say("self-test of {0}", each.profile))
    yield MachinePage(facts_of(seen))


class _Words(Words):
    def __init__(self) -> None:
        self.process: Process | None = None

    def unstarted(self, error: OSError) -> CounterfoilError:
        return CounterfoilError(say("no process can be started: {0}", error.strerror or error))

    def ended(self, code: int) -> CounterfoilError:
        last = [] if self.process is None else self.process.errors.splitlines()[-_LAST_LINES:]
        how = say("its process was ended by signal {0}", -code) if code < 0 else say("its process ended with {0}", code)
        return CounterfoilError(joined(how, " ".join(last), between=": "))

    def nonsense(self, error: Exception) -> CounterfoilError:
        return CounterfoilError(str(error))


def _asked(part: str, program: Program, cancel: CancelToken) -> Iterator[Seen]:
    """Yield what a process says of a part; raises CancelledError."""
    if program is LOOK_AT_DISPLAY and find_spec("counterfoil_app") is None:
        yield Broken(part, say("the window is not installed"), missing=True)
        return
    words = _Words()
    try:
        process = words.process = Process(program, words, Start(keeps_errors=True))
        try:
            yield from process.ask(LOOKS, LOOKS.call(look, (), {}), cancel)
        finally:
            process.end(now=True)
    except CancelledError:
        raise
    except CounterfoilError as error:
        yield Broken(part, error.sentence)
    except FaultError as error:
        yield Broken(part, str(error))

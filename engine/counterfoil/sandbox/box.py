"""Closes the box around this process, as far as the system can, and says how far."""

from __future__ import annotations

import importlib.util
import mmap
import os
import platform
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import platformdirs

from counterfoil.sandbox.calls import ARCHITECTURES
from counterfoil.sandbox.filter import encode, make_filter
from counterfoil_core.base.memory import memory_available

# What a box lets through, as data.

SYSTEM = (
    "/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/local/lib",
    "/usr/share/zoneinfo",
    "/etc/ld.so.cache", "/etc/localtime", "/etc/os-release", "/etc/passwd", "/etc/nsswitch.conf",
    "/proc/self", "/proc/cpuinfo", "/proc/filesystems", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/uptime",
    "/proc/version", "/proc/sys/vm", "/proc/sys/kernel",
    "/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm",
    "/dev/full", "/dev/random", "/dev/urandom", "/dev/zero",
)  # fmt: skip
"""What libraries read of a system: code, time zones, and what processors and memory there are."""
DEVICES = ("/dev/null",)


@dataclass(frozen=True)
class Policy:
    """What a process in a box may still do."""

    reads: tuple[str, ...]  #: Files that it may read, and folders with all that is in them; absolute.
    writes: tuple[str, ...] = ()  #: Folders in which it may make, change and remove files, and files that it may write.
    devices: tuple[str, ...] = DEVICES  #: Devices that it may read and write.
    memory: int | None = None  #: Bytes of memory that it may take; None for no limit.
    lists: tuple[str, ...] = ()  #: Folders of which it may list what is in them, and read nothing.


def make_policy(
    reads: Iterable[str],
    writes: Iterable[str] = (),
    *,
    installation: Iterable[str],
    home: str,
    memory: int | None = None,
    lists: Iterable[str] = (),
) -> Policy:
    """Return the policy of a job.

    Args:
        reads: Files and folders of the job, absolute.
        writes: Folders and files of the job that it writes, absolute.
        installation: Where programs and libraries lie, as Python says; a folder that holds the user's own is left out,
            as are names that are relative.
        home: The user's own folder.
        memory: Bytes of memory that the process may take.
        lists: Folders of the job that it lists, absolute.

    Raises:
        ValueError: A path of the job is not absolute.
    """
    wanted, written, listed = (tuple(dict.fromkeys(each)) for each in (reads, writes, lists))
    for path in (*wanted, *written, *listed):
        if not path.startswith("/"):
            raise ValueError(f"{path!r} is not absolute")
    own = PurePosixPath(home)
    code = (each for each in installation if each.startswith("/") and not own.is_relative_to(PurePosixPath(each)))
    return Policy(tuple(dict.fromkeys((*SYSTEM, *code, *wanted))), written, DEVICES, memory, listed)


SWITCH = "COUNTERFOIL_SANDBOX"
"""The environment variable with which whoever runs Counterfoil leaves the box open: ``off``."""


@dataclass(frozen=True)
class Closed:
    """How far a box is closed."""

    features: tuple[str, ...] = ()  #: What of the kernel closes it, for instance ``landlock-v7`` and ``seccomp``.
    missing: tuple[str, ...] = ()  #: What does not, and why.

    @property
    def words(self) -> str:
        """For the environment of a verdict: ``landlock-v7, seccomp``, or ``none: ...``."""
        if not self.features:
            return f"none: {'; '.join(self.missing)}"
        return ", ".join(self.features) + (f"; without {'; '.join(self.missing)}" if self.missing else "")


AnyPath = str | os.PathLike[str]
_OPEN = Closed(missing=("not asked for",))
_closed = _OPEN


def sandbox() -> str:
    """Say how far the box around this process is closed, for the environment of a verdict."""
    return _closed.words


def why_none() -> str:
    """Say why no box can be closed around any process here; empty where one can."""
    if sys.platform != "linux":
        return "this system has neither Landlock nor seccomp"
    return f"switched off by {SWITCH}" if os.environ.get(SWITCH) == "off" else ""


def leave_open(why: str) -> Closed:
    """Say why there is no box around this process."""
    return _note(Closed(missing=(why,)))


@contextmanager
def without_box(why: str) -> Iterator[None]:
    """Say in the block why there is no box around this process."""
    before = _closed
    leave_open(why)
    try:
        yield
    finally:
        _note(before)


def enter(reads: Iterable[AnyPath], writes: Iterable[AnyPath] = (), lists: Iterable[AnyPath] = ()) -> Closed:
    """Close the box around this process, for good; to be called before it starts threads, and loads what does.

    Args:
        reads: Files and folders of the job that it reads, beside the installation.
        writes: Folders and files of the job that it writes.
        lists: Folders whose names it reads, and not their files.

    Returns:
        How far it is closed: what this kernel lacks, and what fails, is said and not raised.
    """
    policy = policy_here(reads, writes, lists)
    # Libraries ask for a place for temporary files, which they do not use, and fail where there is none to write to.
    tempfile.tempdir = next(iter(policy.writes), os.sep)
    # The library's compiler, whose front end some checks of operators load, makes this folder or fails.
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.sep
    return close(policy)


def policy_here(reads: Iterable[AnyPath], writes: Iterable[AnyPath] = (), lists: Iterable[AnyPath] = ()) -> Policy:
    """Return the policy of a job on this machine.

    Args:
        reads: Files and folders that the job reads.
        writes: Folders and files that it writes.
        lists: Folders that it lists.
    """
    return make_policy(
        [*(os.path.abspath(each) for each in reads), *kernel_folders()],
        [os.path.abspath(each) for each in writes],
        installation=installation(),
        home=os.path.realpath(os.path.expanduser("~")),
        memory=memory_available(),
        lists=[os.path.abspath(each) for each in lists],
    )


def close(policy: Policy, environment: Mapping[str, str] = os.environ) -> Closed:
    """Close the box that a policy describes; see :func:`enter`."""
    if environment.get(SWITCH) == "off":
        return leave_open(f"switched off by {SWITCH}")
    if sys.platform != "linux":
        return leave_open("this system has neither Landlock nor seccomp")
    limit_memory(policy.memory)
    architecture = ARCHITECTURES.get(platform.machine())
    if architecture is None or sys.byteorder != "little" or sys.maxsize < 2**32:
        return leave_open("unknown numbers of system calls on this processor")
    from counterfoil.sandbox.kernel import HIGHEST_LANDLOCK, Kernel

    kernel = Kernel(architecture)
    try:
        kernel.renounce_privileges()
    except OSError as error:
        return leave_open(f"privileges stay: {_reason(error)}")
    features, missing = [], []
    try:
        version = kernel.landlock_version()
        # It binds the thread that asks for it, and those that come after.
        if len(os.listdir("/proc/self/task")) > 1:
            missing.append("landlock: other threads run")
        else:
            kernel.restrict_files(version, policy.reads, policy.writes, policy.devices, policy.lists)
            features.append(f"landlock-v{min(version, HIGHEST_LANDLOCK)}")
    except OSError as error:
        missing.append(f"landlock: {_reason(error)}")
    try:
        kernel.restrict_calls(encode(make_filter(architecture, os.getpid())))
        features.append("seccomp")
    except OSError as error:
        missing.append(f"seccomp: {_reason(error)}")
    return _note(Closed(tuple(features), tuple(missing)))


def limit_memory(more: int | None) -> None:
    """Limit the bytes that this process may take from now on, and let no core be dumped.

    What it computes is a stranger's. The system counts what is reserved and was never touched too, as the arena of
    large tensors is that a forked process comes with: a limit below that would leave no room for the next thread.
    """
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if more is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = more + _reserved()
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _reserved() -> int:
    """Bytes of this process that the limit of its data counts (proc(5), the sixth number of ``statm``)."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[5]) * mmap.PAGESIZE
    except (OSError, ValueError, IndexError):  # no such file on this system
        return 0


def kernel_folders() -> tuple[str, ...]:
    """Return where compiled kernels are kept outside of the installation (:mod:`counterfoil_core.kernels.cache`)."""
    folders = [os.environ.get("NUMBA_CACHE_DIR", "")]
    with suppress(OSError, RuntimeError):  # nobody knows where this user is at home
        folders.append(str(platformdirs.user_cache_path("counterfoil", appauthor=False)))
    return tuple(os.path.abspath(each) for each in folders if each)


def installation() -> tuple[str, ...]:
    """Return where Python, its packages, and the libraries that are loaded lie."""
    places = [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, *filter(None, sys.path)]
    places += os.environ.get("LD_LIBRARY_PATH", "").split(":")
    # An installation that refers to a checkout has its packages outside of all these.
    for name in ("counterfoil", "counterfoil_core", "counterfoil_app", "counterfoil_resources"):
        spec = importlib.util.find_spec(name)
        places += [] if spec is None else spec.submodule_search_locations or []
    try:
        maps = Path("/proc/self/maps").read_text(errors="surrogateescape")
        # Memory that processes share has a name there too, of a file that there is none of: /dev/zero.
        loaded = {line[line.index("/") :] for line in maps.splitlines() if "/" in line}
        places += map(os.path.dirname, sorted(filter(os.path.isfile, loaded)))
    except OSError:
        pass  # without /proc: what is loaded lies in the system's folders then, or Python's
    found = (each for each in places if each.startswith("/"))
    return tuple(dict.fromkeys(path for each in found for path in (each, os.path.realpath(each))))


def _note(closed: Closed) -> Closed:
    global _closed
    _closed = closed
    return closed


def _reason(error: OSError) -> str:
    return error.strerror or str(error)

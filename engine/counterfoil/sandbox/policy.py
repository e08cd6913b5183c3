"""What a box lets through, as data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

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

"""How much memory this machine has for a process: what is built in, less what a container's limit takes away."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

_CGROUPS = Path("/sys/fs/cgroup")


def memory_total() -> int | None:
    """Return the bytes of memory of this machine, or of the container where it has less; None where nobody says."""
    try:
        physical: int | None = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not on this system: the allocator will say when memory is short
        physical = None
    known = [each for each in (physical, *(limit for limit, _ in _limits(_own_groups(), _CGROUPS))) if each is not None]
    return min(known, default=None)


def memory_available() -> int | None:
    """Return the bytes that can be taken without an end, swap included; None where the system does not say."""
    try:
        found = available_in(Path("/proc/meminfo").read_text())
    except OSError:
        return None
    left = [limit - used for limit, used in _limits(_own_groups(), _CGROUPS)]
    return max(0, min(left if found is None else [found, *left], default=0)) if left or found is not None else None


def available_in(meminfo: str) -> int | None:
    """Return what the text of ``/proc/meminfo`` says of memory that can be taken, in bytes."""
    pairs = (line.split(":", 1) for line in meminfo.splitlines() if ":" in line)
    sizes = {name: int(rest.split()[0]) * 1024 for name, rest in pairs if rest.split() and rest.split()[0].isdecimal()}
    return sizes["MemAvailable"] + sizes.get("SwapFree", 0) if "MemAvailable" in sizes else None


def _own_groups() -> str:
    try:
        return Path("/proc/self/cgroup").read_text()
    except OSError:
        return ""


def _limits(groups: str, root: Path) -> Iterator[tuple[int, int]]:
    """Yield limit and use of memory of the control groups that hold this process, in bytes, where there is a limit.

    Args:
        groups: The text of ``/proc/self/cgroup`` (cgroups(7)).
        root: Where control groups are mounted.
    """
    for line in groups.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers == "":
            yield from _upwards(root, path, "memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            yield from _upwards(root / "memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes")


def _upwards(root: Path, path: str, limit: str, used: str) -> Iterator[tuple[int, int]]:
    place = PurePosixPath(path.lstrip("/"))
    for folder in (root / place, *(root / each for each in place.parents)):
        try:
            yield int((folder / limit).read_text()), int((folder / used).read_text())
        except (OSError, ValueError):
            continue  # no such group in this container's view, or "max": no limit

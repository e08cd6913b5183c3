"""Workers of an audit: processes, here or elsewhere, that replay some of its segments. Plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path


@dataclass(frozen=True)
class LocalWorkers:
    """Processes of this machine."""

    count: int  #: How many.
    devices: tuple[str, ...] = ()  #: Their devices, in turn; those of the audit itself unless given.


@dataclass(frozen=True)
class RayWorkers:
    """Actors of a Ray cluster."""

    address: str  #: Of the cluster; ``auto`` for the one that this machine belongs to.
    #: How many; None for one on each free CPU, or on each GPU where the audit's device is one.
    count: int | None = None


@dataclass(frozen=True)
class PartFiles:
    """Nobody: what they found lies in files."""

    paths: tuple[Path, ...]  #: The files.


@dataclass(frozen=True)
class Followed:
    """Nobody: this auditor replayed them while the run was recorded."""

    path: Path  #: The file in which that lies (:func:`counterfoil.follow`).


Workers = LocalWorkers | RayWorkers | PartFiles | Followed


class ReplayedBy(Enum):
    """Who replayed a segment, as the audit itself knows it; a :class:`Place` is what that one says of itself."""

    AUDIT = "audit"
    """The audit, in its own process."""
    PROCESS = "process"
    """A process that the audit started on its machine."""
    CLUSTER = "cluster"
    """An actor of a Ray cluster."""
    PART = "part"
    """Whoever wrote a part file."""


@dataclass(frozen=True, order=True)
class Place:
    """Where segments were replayed, as whoever replayed them says."""

    machine: str  #: Name of the machine in its network.
    environment: tuple[tuple[str, str], ...]  #: Device, library versions and switches, sorted.

    @property
    def device(self) -> str:
        """The device, for instance ``cpu`` or ``cuda:0``."""
        return dict(self.environment).get("device", "")


@dataclass(frozen=True)
class ReplayedAt:
    """A place, and what was replayed there."""

    place: Place  #: The place.
    segments: tuple[tuple[int, int], ...]  #: First and last of each run of neighbours, ascending.
    by: ReplayedBy = ReplayedBy.AUDIT  #: Who replayed them.


Where = tuple[ReplayedBy, Place]
"""Who replayed a segment, and where."""


def with_segment(replayed: Sequence[ReplayedAt], number: int, where: Where) -> tuple[ReplayedAt, ...]:
    """Return who replayed what where, ordered by the first segment of each, with one segment more.

    Args:
        replayed: Who replayed the segments before it.
        number: The number of the segment: greater than those.
        where: Who replayed it, and where.
    """
    by, place = where
    found = list(replayed)
    for position, at in enumerate(found):
        if (at.by, at.place) == where:
            spans, (first, last) = at.segments[:-1], at.segments[-1]
            segments = (*spans, (first, number)) if last == number - 1 else (*at.segments, (number, number))
            found[position] = ReplayedAt(place, segments, by)
            return tuple(found)
    return (*replayed, ReplayedAt(place, ((number, number),), by))


def elsewhere(replayed: Iterable[ReplayedAt], here: Place) -> bool:
    """Whether anything was not replayed by the audit or its own processes at this place; what others claim is no help.

    Args:
        replayed: Who replayed the segments, and where.
        here: The audit's own place.
    """
    own = (ReplayedBy.AUDIT, ReplayedBy.PROCESS)
    return any(at.by not in own or _without_box(at.place) != _without_box(here) for at in replayed)


def _without_box(place: Place) -> Place:
    """The box that a process closes around itself changes nothing of what it computes."""
    return Place(place.machine, tuple(pair for pair in place.environment if pair[0] != "sandbox"))


@dataclass(frozen=True)
class WorkerState:
    """What one worker does."""

    number: int  #: From 1.
    machine: str = ""  #: Name of its machine; empty until it is ready.
    device: str = ""  #: Its device.
    segment: int | None = None  #: What it replays; None while it waits.
    segments: int = 0  #: How many segments it has replayed.
    steps: int = 0  #: How many steps it has replayed, those of its segment among them.
    seconds: float = 0.0  #: For how long it has been ready.
    trouble: str = ""  #: Why it can do no more, as a sentence; else empty.

    @property
    def rate(self) -> float:
        """Steps a second; 0.0 until there is one."""
        return self.steps / self.seconds if self.seconds > 0 else 0.0

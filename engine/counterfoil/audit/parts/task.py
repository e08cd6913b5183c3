"""What a worker is to open."""

from __future__ import annotations

from dataclasses import dataclass, field

from counterfoil_core.program.limits import Limits


@dataclass(frozen=True)
class Task:
    """What a worker is to open."""

    run: str  #: The run's file, as the worker's machine names it.
    data: str | None = None  #: The data file, for an order that keeps data outside.
    device: str = "cpu"  #: ``cpu`` or ``cuda:0``.
    threads: int | None = None  #: Threads on the CPU; None for torch's choice.
    limits: Limits = field(default_factory=Limits)  #: How large the program may be that is replayed.
    order: str | None = None  #: The client's order file, which a run may leave its initial weights to; else not read.

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it names."""
        return tuple(filter(None, (self.run, self.data, self.order)))

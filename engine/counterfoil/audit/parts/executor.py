"""Where workers run: one interface; processes of this machine and actors of a cluster are behind it.

Without workers an audit replays its segments itself, in its own process.
"""

from __future__ import annotations

from typing import Protocol

from counterfoil.audit.parts.partfile import Message


class Executor(Protocol):
    """Workers, numbered from 1. A worker has one segment at a time."""

    @property
    def count(self) -> int:
        """Number of workers."""

    def start(self, worker: int) -> None:
        """Start a worker, or start it again; it says Ready, Unable or Died later. Raises WorkerError."""

    def give(self, worker: int, number: int) -> None:
        """Let a worker that is ready replay a segment."""

    def wait(self, seconds: float) -> list[Message]:
        """Return what the workers said, in the order in which each said it; after ``seconds`` at the latest."""

    def close(self) -> None:
        """End all workers, whatever they do; calling it twice does no harm."""

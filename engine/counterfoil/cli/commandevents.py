"""What ``counterfoil order`` tells a program that called it, in the place of what it shows on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from counterfoil.training.stages import Expected


@dataclass(frozen=True)
class CommandProgress:
    """How far a stage of an order's preparation is."""

    stage: str  #: What is being done, in words.
    unit: str  #: What is counted.
    done: float  #: How many of them are done.
    total: int  #: How many there are; 0 where nobody knows.


@dataclass(frozen=True)
class OrderWritten:
    """An order that was written; the last that is told."""

    digest: str  #: The order digest, 64 hexadecimal digits.
    title: str  #: The client's name for the job.
    optimizer: str  #: The optimizer in words.
    profile: str  #: The precision profile in words.
    steps: int  #: Number of training steps.
    batch_size: int  #: Rows of each.
    shares: int  #: Shares of each; 0 where steps are not divided.
    seed: int  #: Seed of every random draw.
    checkpoint_every: int  #: After so many steps the state is stored.
    data: tuple[str, ...]  #: Each data array: name, dtype and shape, in words.
    order_bytes: int  #: Size of the order file.
    data_bytes: int  #: Size of the data file; 0 where the data lies in the order.
    expected: Expected  #: What a run of it takes.
    warnings: tuple[str, ...]  #: Sentences that the client should not miss.
    notes: tuple[str, ...]  #: Sentences on what was made of the job.


OrderEvent = CommandProgress | OrderWritten
Tell = Callable[[OrderEvent], None]
_told: ContextVar[Tell | None] = ContextVar("_told", default=None)


@contextmanager
def report_to(tell: Tell) -> Iterator[None]:
    """Let commands tell a program what they do, in the block, and draw no bars."""
    before = _told.set(tell)
    try:
        yield
    finally:
        _told.reset(before)


def report_target() -> Tell | None:
    """Whom a command tells what it does; None where it shows that on a terminal."""
    return _told.get()


class ToldBar:
    """A bar that is told and not drawn.

    Args:
        tell: Is told.
        title: What goes on.
        unit: What is counted.
    """

    def __init__(self, tell: Tell, title: str, unit: str) -> None:
        self._tell = tell
        self._title = title
        self._unit = unit
        self._total = 0
        self.update(0)

    def start(self, steps: int) -> None:
        """Say how many there are."""
        self._total = steps

    def update(self, done: float, note: str = "") -> None:
        """Say how many are done."""
        self._tell(CommandProgress(self._title, self._unit, done, self._total))

    def go_on_from(self, done: int) -> None:
        """Say how many were done before."""
        self.update(done)

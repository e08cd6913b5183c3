"""The journal: time-stamped lines of what happened in the window, bounded, for the Log view and for reports."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from PySide6.QtCore import QObject, Signal

from counterfoil_app.engine import strangers

CAPACITY = 2_000
"""Entries kept. A replay writes a few dozen, so this is weeks of work; beyond it the oldest go."""
DETAIL_CHARACTERS = 20_000
"""Longest detail kept of one entry: a deep traceback, not a gigabyte somebody put into an error message."""


class Kind(Enum):
    """What an entry is about."""

    NOTE = "note"
    GOOD = "good"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class Entry:
    """One line of the journal."""

    time: datetime  #: Local time with its offset.
    kind: Kind  #: What it is about.
    message: str  #: One sentence.
    detail: str = ""  #: What to copy into a report; may be empty.

    @property
    def line(self) -> str:
        """The entry as it is copied: ISO 8601 time, kind, message, and the detail indented below."""
        head = f"{self.time.isoformat(timespec='seconds')}  {self.kind.value:<7}  {self.message}"
        return "\n    ".join([head, *self.detail.splitlines()])


def _now() -> datetime:
    return datetime.now().astimezone()


class Journal(QObject):
    """Keeps the last entries, oldest first.

    Args:
        capacity: Number of entries kept.
        clock: Gives the local time with its offset.
    """

    removing_first = Signal()
    """The oldest entry is about to go, to make room."""
    removed_first = Signal()
    """It is gone."""
    added = Signal()
    """A new entry stands at the end."""
    cleared = Signal()

    def __init__(
        self, parent: QObject | None = None, *, capacity: int = CAPACITY, clock: Callable[[], datetime] = _now
    ) -> None:
        super().__init__(parent)
        self._capacity = capacity
        self._clock = clock
        self._entries: deque[Entry] = deque()

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, position: int) -> Entry:
        return self._entries[position]

    def __iter__(self) -> Iterator[Entry]:
        return iter(tuple(self._entries))

    def note(self, kind: Kind, message: str, detail: str = "") -> None:
        """Write an entry."""
        if len(self._entries) == self._capacity:
            self.removing_first.emit()
            self._entries.popleft()
            self.removed_first.emit()
        self._entries.append(Entry(self._clock(), kind, strangers.sentence(message), detail[:DETAIL_CHARACTERS]))
        self.added.emit()

    def clear(self) -> None:
        """Forget all entries."""
        self._entries.clear()
        self.cleared.emit()

    @property
    def text(self) -> str:
        """All entries as they are copied."""
        return "\n".join(entry.line for entry in self._entries)

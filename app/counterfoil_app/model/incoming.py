"""Files that somebody hands over, any number of them: what each is, how far that is, and how long it takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from counterfoil import CancelToken, CounterfoilError, FileUse
from counterfoil_app.engine.incoming import Incoming
from counterfoil_app.engine.port import Engine
from counterfoil_app.model.inquiry import Ask, Inquiry
from counterfoil_app.model.progress import RateMeter

MOST_IN_FOLDER = 64
"""So many files of a folder are looked at."""
NEWEST = 4
"""So many of those that were looked at are shown."""


@dataclass(frozen=True)
class Looked:
    """How far the worker is."""

    done: int  #: Files that were looked at.
    newest: tuple[Incoming, ...]  #: The last of them.


class IncomingFiles(Inquiry[Looked]):
    """Has files looked at; those that come meanwhile are looked at next.

    Args:
        ask: Lets the worker ask the engine.

    Attributes:
        total: How many are looked at.
        looked: How far that is.
        seconds_left: How long it will still take; None while that is not known.
    """

    found = Signal(tuple)
    """What they are, in the order in which they were handed over; nothing where it was stopped."""

    def __init__(self, ask: Ask, parent: QObject | None = None) -> None:
        self._next: list[Path] = []
        self._paths: tuple[Path, ...] = ()
        super().__init__(ask, parent)

    @property
    def total(self) -> int:
        """How many are looked at."""
        return len(self._paths)

    def take(self, paths: Sequence[Path]) -> None:
        """Look at files, behind those that are looked at."""
        self._next.extend(paths)
        self.start()

    def start(self) -> None:
        """Begin with what waits, unless it is under way."""
        if self._next and not self.working:
            self._paths, self._next = tuple(dict.fromkeys(self._next)), []
            super().start()

    def stop(self) -> None:
        """Stop, and forget what waits."""
        self._next.clear()
        super().stop()

    def _forget(self) -> None:
        super()._forget()
        self.looked = Looked(0, ())
        self.seconds_left: float | None = None
        self._rate = RateMeter()

    def _question(self, token: CancelToken) -> Callable[[Engine], object]:
        return partial(self._look_at_all, self._paths, token)

    def _look_at_all(self, paths: tuple[Path, ...], token: CancelToken, engine: Engine) -> tuple[Incoming, ...]:
        """In the worker thread."""
        found: dict[Path, Incoming] = {}
        for each in engine.incoming(paths, token):
            found[each.path] = each
            self._seen.put(Looked(len(found), (*self._newest(found),)))
        return tuple(told for path in paths if path in found for told in self._within(found[path], engine, token))

    @staticmethod
    def _within(told: Incoming, engine: Engine, token: CancelToken) -> tuple[Incoming, ...]:
        """What was looked at; in the place of a folder that was handed over, the files in it that are read."""
        if told.found is not None:
            return (told,)
        try:
            listed = engine.list_folder(told.path)
        except CounterfoilError:
            return (told,)
        files = tuple(listed.folder / name for name in listed.files[:MOST_IN_FOLDER])
        looked = engine.incoming(files, token) if files else ()
        of_use = [each for each in looked if each.found is not None and each.found.kind is not FileUse.OTHER]
        return tuple(sorted(of_use, key=lambda each: each.path)) or (told,)

    @staticmethod
    def _newest(found: dict[Path, Incoming]) -> list[Incoming]:
        last = reversed(found.values())
        return [each for each, _ in zip(last, range(NEWEST), strict=False)]

    def _show(self, seen: Looked) -> None:
        self.looked = seen
        self._rate.note(time.monotonic(), seen.done)
        self.seconds_left = self._rate.seconds_left(self.total)

    def _answer(self, value: object) -> None:
        if isinstance(value, tuple):
            self.found.emit(value)
        self.start()

"""Which runs are being replayed by other windows of the same user."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QLockFile

from counterfoil_core.signing.subject import Subject

DIGITS = 20
"""Digits of each part of what a run is, in the name of its lock."""


class Replaying:
    """Holds a lock for the run that this window replays, so that another window can say so.

    A lock keeps nobody from replaying. That of a window that was killed is recognised by its process and holds nothing.

    Args:
        folder: Where the locks lie; made with the first. Where it cannot be made, nothing is said to be held.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: QLockFile | None = None

    def hold(self, about: Subject) -> None:
        """Say that this window replays a run, and no other any more."""
        self.release()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return
        lock = self._lock_of(about)
        if lock.tryLock(0):
            self._lock = lock

    def release(self) -> None:
        """Say that this window replays nothing."""
        if self._lock is not None:
            self._lock.unlock()
        self._lock = None

    def elsewhere(self, about: Subject) -> bool:
        """Whether another window replays a run at this moment."""
        if self._lock is not None and self._lock.fileName() == str(self._path(about)):
            return False
        if not self._path(about).exists():  # nobody does: nothing is written to find that out
            return False
        lock = self._lock_of(about)
        if lock.tryLock(0):
            lock.unlock()
            return False
        return lock.error() is QLockFile.LockError.LockFailedError

    def _path(self, about: Subject) -> Path:
        parts = (about.run_root.hex, about.order.hex, about.trainer_key)
        return self._folder / f"{'-'.join(part[:DIGITS] for part in parts)}.lock"

    def _lock_of(self, about: Subject) -> QLockFile:
        lock = QLockFile(str(self._path(about)))
        lock.setStaleLockTime(0)  # a replay takes as long as it takes; only a process that is gone lets go
        return lock

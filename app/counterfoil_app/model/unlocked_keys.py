"""Private keys that stay unlocked for a while after they signed, if the user wants that.

What unlocks them lies in the memory of the window's process alone, and is written nowhere.
"""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from counterfoil_app.model.eventloop import single_shot
from counterfoil_app.model.settings import Settings


class UnlockedKeys(QObject):
    """The passphrases of keys that were used lately.

    Args:
        settings: Say for how many minutes after its last use a key stays unlocked; 0 is not at all.
    """

    changed = Signal()

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._passphrases: dict[Path, str] = {}
        self._until = 0.0
        self._end = single_shot(self, 0, self.lock)

    @property
    def any(self) -> bool:
        """Whether one is unlocked."""
        return bool(self._passphrases)

    def keep(self, key: Path, passphrase: str | None) -> None:
        """Keep a key unlocked that signed just now; one without a passphrase is never locked."""
        seconds = 60 * self._settings.key_minutes
        if passphrase is not None and seconds:
            self._passphrases[key.absolute()] = passphrase
            self._until = time.time() + seconds
            self._end.start(1000 * seconds)
            self.changed.emit()

    def passphrase_of(self, key: Path) -> str | None:
        """What unlocks a key; None where it is locked."""
        if time.time() >= self._until:  # a timer stands still while the computer sleeps
            self.lock()
        return self._passphrases.get(key.absolute())

    def follow_settings(self) -> None:
        """Lock at once where no key is to stay unlocked any longer."""
        if not self._settings.key_minutes:
            self.lock()

    def lock(self) -> None:
        """Forget all passphrases."""
        self._end.stop()
        if self._passphrases:
            self._passphrases.clear()
            self.changed.emit()

"""The line for the passphrase of a private key."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QLineEdit

from counterfoil_app.model.unlocked_keys import UnlockedKeys


class PassphraseLine(QLineEdit):
    """Takes a passphrase; while the key is unlocked nothing need be typed.

    Args:
        unlocked: The keys that are.
        key: Says whose passphrase it is; None for that of a key that is made.
    """

    def __init__(self, unlocked: UnlockedKeys, key: Callable[[], Path | None]) -> None:
        super().__init__()
        self._unlocked, self._key = unlocked, key
        self.setEchoMode(QLineEdit.EchoMode.Password)
        self.setAccessibleName(self.tr("Passphrase"))
        unlocked.changed.connect(self.refresh)

    @property
    def passphrase(self) -> str | None:
        """What was typed, or else what unlocked the key; None where there is neither."""
        return self.text() or self._kept()

    def refresh(self) -> None:
        """Say in the empty line what it takes; to be called when the key is another."""
        hint = self.tr("recommended; protects the key file")
        if self._key() is not None:
            hint = self.tr("unlocked: nothing to type") if self._kept() else self.tr("empty if the key has none")
        self.setPlaceholderText(hint)

    def _kept(self) -> str | None:
        key = self._key()
        return None if key is None else self._unlocked.passphrase_of(key)

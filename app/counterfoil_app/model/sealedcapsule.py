"""A sealed capsule that is open for as long as its window is."""

from __future__ import annotations

import atexit
from contextlib import ExitStack
from pathlib import Path

from counterfoil.sealed.unseal import open_sealed
from counterfoil.signer.client import Passphrase


class Unsealing:
    """Opens a sealed capsule into a folder of this user alone, and removes it.

    Args:
        sealed: The sealed capsule.
        identity: The judge's private sealing key, which another process reads.
        passphrase: Its passphrase; empty for none.

    Attributes:
        sealed: The sealed capsule.
    """

    def __init__(self, sealed: Path, identity: Path, passphrase: str) -> None:
        self.sealed = sealed
        self._stack = ExitStack()
        self._opening = open_sealed(sealed, identity, Passphrase.given(passphrase))

    def open(self) -> Path:
        """Return where what was sealed lies now; to be called from the worker thread, and once.

        Raises:
            CounterfoilError: As :func:`counterfoil.sealed.unseal.open_sealed`.
        """
        path = self._stack.enter_context(self._opening)
        atexit.register(self.close)  # a window that is closed with its application does not tell
        return path

    def close(self) -> None:
        """Remove it; calling it twice does no harm."""
        self._stack.close()
        atexit.unregister(self.close)

"""Passphrases in the system's key ring, for a user who wants them remembered.

The package ``keyring`` is optional; without it, or without a key ring on the system, nothing is remembered. To be
called from the worker thread: a key ring may ask the user to unlock it.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

from counterfoil import CounterfoilError
from counterfoil_app.looks.language import texts

SERVICE = "Counterfoil"

_tr = texts("passphrases")


def _keyring() -> ModuleType | None:
    try:
        return importlib.import_module("keyring")
    except ImportError:
        return None


def unavailable() -> str:
    """Why nothing can be remembered, as a sentence; empty when it can."""
    ring = _keyring()
    if ring is None:
        return _tr("Not available: the package 'keyring' is not installed.")
    # keyring's own mark of a back end that works (keyring.backend.KeyringBackend.priority).
    if ring.get_keyring().priority <= 0:
        return _tr("Not available: this system has no key ring.")
    return ""


def recall_passphrase(key: Path) -> str | None:
    """Return the passphrase of a private key file; None when none is remembered, or the key ring stays locked."""
    ring = _keyring()
    if ring is None or unavailable():
        return None
    try:
        found = ring.get_password(SERVICE, _name(key))
    except ring.errors.KeyringError:
        return None
    return found if isinstance(found, str) else None


def remember(key: Path, passphrase: str) -> None:
    """Remember the passphrase of a private key file.

    Raises:
        CounterfoilError: The key ring does not take it.
    """
    ring = _keyring()
    if ring is None:
        raise CounterfoilError(unavailable())
    try:
        ring.set_password(SERVICE, _name(key), passphrase)
    except ring.errors.KeyringError as error:
        raise CounterfoilError(
            _tr("The verdict is signed, but the key ring of the system did not take the passphrase."),
            remedy=_tr("Unlock the key ring, or leave the box for remembering empty."),
            detail=str(error),
        ) from error


def _name(key: Path) -> str:
    return str(key.resolve())

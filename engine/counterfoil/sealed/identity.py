"""Judges' sealing keys, the private half: files of age identities, as ``age -i`` reads them.

To be used in a process of its own (:mod:`counterfoil.sealed.server`), which nobody else of the user can read.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from counterfoil.base.joberrors import TargetExistsError
from counterfoil.base.wholefiles import write_whole
from counterfoil.sealed.agefile import ARMORED, MAGIC, library
from counterfoil.sealed.recipients import recipients_path
from counterfoil_core.base.errors import KeyFileError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import timestamp

MOST_BYTES = 2**16
MOST_IDENTITIES = 100
_BEGIN = "AGE-SECRET-KEY-1"


def make_identity(path: Path, passphrase: str | None) -> str:
    """Make a sealing key (X25519) and write it, with its public half beside it.

    Args:
        path: Where the private half goes, for instance ``judge.key``; only its owner may read it (mode 0600).
        passphrase: Encrypts it, as ``age -p`` does (scrypt); None leaves it readable to whoever gets the file.

    Returns:
        The public half, ``age1...``.

    Raises:
        KeyFileError: One of the files exists already, or the passphrase is empty.
        FileWriteError: The folder cannot be written to.
        CounterfoilError: The library is not installed.
    """
    age = library()
    if passphrase == "":
        raise KeyFileError(
            say("An empty passphrase protects nothing."), remedy=say("Give a passphrase, or none at all.")
        )
    public = recipients_path(path)
    for each in (path, public):
        if each.exists():
            raise _exists(each)
    identity = age.x25519.Identity.generate()
    recipient = str(identity.to_public())
    # What age-keygen writes.
    text = f"# created: {timestamp(datetime.now(UTC))}\n# public key: {recipient}\n{identity}\n".encode()
    data: bytes = text if passphrase is None else age.passphrase.encrypt(text, passphrase, armored=True)
    _write_new(path, data, 0o600)
    try:
        _write_new(public, f"{recipient}\n".encode(), 0o644)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return recipient


def needs_passphrase(path: Path) -> bool:
    """Whether the private half is encrypted; raises KeyFileError when it cannot be read."""
    return _read(path).startswith((MAGIC, ARMORED))


def load_identities(path: Path, passphrase: str | None) -> list[Any]:
    """Read the private half of sealing keys, as the library has them.

    Args:
        path: The file, of :func:`make_identity` or of ``age-keygen``.
        passphrase: Its passphrase; None where it has none.

    Raises:
        KeyFileError: It cannot be read, is no such file, or the passphrase is wrong or missing.
        CounterfoilError: The library is not installed.
    """
    age = library()
    data = _read(path)
    if data.startswith((MAGIC, ARMORED)):
        if passphrase is None:
            raise KeyFileError(say("The key in {0} needs its passphrase.", path.name), remedy=say("Give it."))
        try:
            data = age.passphrase.decrypt(data, passphrase)
        except age.DecryptError as error:
            raise KeyFileError(
                say("The passphrase of {0} is wrong, or the file is damaged.", path.name),
                remedy=say("Try again."),
                detail=str(error),
            ) from error
    elif passphrase is not None:
        raise KeyFileError(say("The key in {0} has no passphrase.", path.name), remedy=say("Leave it empty."))
    lines = [line.strip() for line in data.decode("ascii", "replace").splitlines()]
    written = [line for line in lines if line and not line.startswith("#")]
    if not 0 < len(written) <= MOST_IDENTITIES or not all(line.startswith(_BEGIN) for line in written):
        raise _none(path)
    try:
        return [age.x25519.Identity.from_str(line) for line in written]
    except age.IdentityError:  # what it says may quote the key
        raise _none(path) from None


def _read(path: Path) -> bytes:
    return read_input(path, say("a private sealing key"), KeyFileError, most=MOST_BYTES)


def _none(path: Path) -> KeyFileError:
    return KeyFileError(
        say("{0} is no private sealing key.", path.name),
        remedy=say("Give the file that 'counterfoil keygen --sealing' or age-keygen wrote."),
    )


def _write_new(path: Path, data: bytes, mode: int) -> None:
    try:
        write_whole(path, data, what=say("the key file"), mode=mode, replace=False)
    except TargetExistsError as error:
        raise _exists(path) from error


def _exists(path: Path) -> KeyFileError:
    return KeyFileError(
        say("{0} exists already; a key is never overwritten.", path), remedy=say("Choose another name.")
    )

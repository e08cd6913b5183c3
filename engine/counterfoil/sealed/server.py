"""The process that holds a judge's private sealing key: makes one, or opens one sealed file with it, and ends.

Nothing but the header and the pieces of one sealed file is read here besides the key, by a library in a language that
is safe in memory; what was sealed is written out unread.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from counterfoil.base.joberrors import TargetExistsError
from counterfoil.base.wholefiles import write_errors, write_whole
from counterfoil.sealed.agefile import ARMORED, MAGIC, check_header, library
from counterfoil.sealed.recipients import recipients_path
from counterfoil.sealed.seal import Kept, OnProgress, Told, pass_errors
from counterfoil.signer.passphrase import Secret, ignore_signals, take_passphrase
from counterfoil.signer.server import serve
from counterfoil.talk.port import Port
from counterfoil.talk.table import SEALED
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CounterfoilError, GivenFileError, KeyFileError
from counterfoil_core.base.inputs import open_input, read_input
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import timestamp

# Judges' sealing keys, the private half: files of age identities, as `age -i` reads them. To be used in a process of
# its own (counterfoil.sealed.server), which nobody else of the user can read.

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


class Desk:
    """What holds a judge's private sealing key."""

    def __init__(self) -> None:
        self._identity = Path()
        self._identities: list[Any] = []

    def make(self, identity: Path, secret: Secret) -> str:
        """Make a key; returns the public half."""
        needed = partial(needs_passphrase, identity)
        return make_identity(identity, take_passphrase(secret, identity, needed, create=True))

    def open_key(self, identity: Path, secret: Secret) -> None:
        """Load the key in a file."""
        needed = partial(needs_passphrase, identity)
        self._identities = load_identities(identity, take_passphrase(secret, identity, needed, create=False))
        self._identity = identity
        ignore_signals()

    def open_file(
        self, sealed: Path, out: Path, cancel: CancelToken, tell: Callable[[tuple[int, int]], None]
    ) -> Iterator[tuple[int, int]]:
        """Open a sealed file into a new one; tells how many bytes are done, and how many there are."""
        _open(sealed, out, self._identity, self._identities, cancel, lambda done, total: tell((done, total)))
        return iter(())


SEALED_PORT = Port[Desk](Desk.make, Desk.open_key, Desk.open_file)
"""What the process may be asked."""


def main() -> int:
    """Do one thing for the client; the process's main function."""
    return serve(SEALED, SEALED_PORT, Desk())


def _open(
    sealed: Path, out: Path, identity: Path, identities: list[Any], cancel: CancelToken, progress: OnProgress
) -> None:
    """Open a sealed file into a new one that its owner alone may read."""
    age = library()
    check_header(sealed)
    what = say("what was sealed")
    with write_errors(out, what), open_input(sealed, say("a sealed file"), GivenFileError) as source:
        told = Told(source, os.fstat(source.fileno()).st_size, cancel, progress)
        handle = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with io.BufferedWriter(io.FileIO(handle, "wb")) as target:
            try:
                with pass_errors(told, Kept(target)) as (reading, opened):
                    age.decrypt_io(reading, opened, identities)
            except (age.DecryptError, OSError) as error:
                if isinstance(error, OSError) and error.errno is not None:  # the system's; the library's have no number
                    raise
                raise _refused(sealed, identity, str(error)) from error


def _refused(sealed: Path, identity: Path, why: str) -> CounterfoilError:
    if "matching" in why:  # none of the header's stanzas is for the key
        return KeyFileError(
            say("{0} was not sealed for the key in {1}.", sealed.name, identity.name),
            remedy=say("Give the private key of a judge for whom it was sealed, or have it sealed for this one."),
        )
    return GivenFileError(
        say("{0} is damaged: it is not what was sealed.", sealed.name),
        remedy=say("Ask for the file again."),
        detail=why,
    )

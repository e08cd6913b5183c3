"""The process that holds a judge's private sealing key: makes one, or opens one sealed file with it, and ends.

Nothing but the header and the pieces of one sealed file is read here besides the key, by a library in a language that
is safe in memory; what was sealed is written out unread.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from counterfoil.base.wholefiles import writing
from counterfoil.sealed.agefile import check_header, library
from counterfoil.sealed.identity import load_identities, make_identity, needs_passphrase
from counterfoil.sealed.seal import Kept, OnProgress, Told, passing
from counterfoil.signer.memory import ignore_signals
from counterfoil.signer.passphrase import Secret, take_passphrase
from counterfoil.signer.server import serve
from counterfoil.talk.port import Port
from counterfoil.talk.table import SEALED
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CounterfoilError, GivenFileError, KeyFileError
from counterfoil_core.base.inputs import open_input
from counterfoil_core.base.sentence import say


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
    with writing(out, what), open_input(sealed, say("a sealed file"), GivenFileError) as source:
        told = Told(source, os.fstat(source.fileno()).st_size, cancel, progress)
        handle = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with io.BufferedWriter(io.FileIO(handle, "wb")) as target:
            try:
                with passing(told, Kept(target)) as (reading, opened):
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

"""Opens a sealed file for as long as it is needed, by a process of its own that holds the judge's key.

What was sealed lies meanwhile in a folder of this user alone, in memory where the system has such a place (the user's
runtime folder, which is a tmpfs), and is removed afterwards. What a killed process left behind is removed by the next.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from counterfoil.base.wholefiles import check_room, lock
from counterfoil.sealed.agefile import check_header, library, name_within
from counterfoil.sealed.seal import OnProgress
from counterfoil.sealed.server import SEALED_PORT, Desk
from counterfoil.signer.client import KeyProcess, Passphrase
from counterfoil.talk.table import SEALED
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import GivenFileError, ObstacleError
from counterfoil_core.base.inputs import open_input
from counterfoil_core.base.sentence import say

_PREFIX = "counterfoil-opened-"
_IN_USE, _HELD = "in-use", "held"
_LEFT_SECONDS = 600
"""Age from which a folder that nobody holds a lock on is removed: a new one is not locked for a moment."""
_SPARE = 2
"""How many times the bytes of a file must be free in memory before it is opened there."""


Showing = Callable[[int], AbstractContextManager[OnProgress]]
"""Shows how far something of so many bytes is."""


@contextmanager
def _unseen(size: int) -> Iterator[OnProgress]:
    del size
    yield lambda done, total: None


def make_sealing_key(identity: Path, passphrase: Passphrase) -> str:
    """Make a judge's sealing key in a process of its own; see :func:`counterfoil.sealed.server.make_identity`.

    Args:
        identity: Where the private half goes; the public one lies beside it.
        passphrase: Where its passphrase comes from.

    Returns:
        The public half, ``age1...``.

    Raises:
        KeyFileError, FileWriteError: As there.
        CounterfoilError: The library is not installed.
        SignerError: The process cannot be started, or does not answer.
    """
    library()
    with KeyProcess(SEALED, SEALED_PORT, passphrase) as process:
        return process.open(Desk.make, identity, process.secret)


@contextmanager
def open_sealed(
    sealed: Path,
    identity: Path,
    passphrase: Passphrase,
    cancel: CancelToken | None = None,
    showing: Showing = _unseen,
) -> Iterator[Path]:
    """Provide what was sealed, as a file of this user alone that is removed when the block is left.

    Args:
        sealed: The sealed file.
        identity: The judge's private sealing key; this process does not read it.
        passphrase: Where its passphrase comes from.
        cancel: Stops the opening.
        showing: Shows how far it is, of so many bytes; entered when there is nothing more to ask.

    Yields:
        The file, under the name of the sealed one without ``.age``.

    Raises:
        KeyFileError: The file was not sealed for the key; or the key cannot be used, or its passphrase is wrong.
        GivenFileError: There is no such file, or it is damaged.
        FileWriteError, ObstacleError: There is no room for it.
        CancelledError: The token was cancelled.
        CounterfoilError: The library is not installed.
        SignerError: The process is gone.
    """
    library()
    check_header(sealed)
    with open_input(sealed, say("a sealed file"), GivenFileError) as file:
        size = os.fstat(file.fileno()).st_size
    with private_folder(size) as folder:
        out = folder / name_within(sealed.name)
        check_room(folder, size, say("what was sealed"))
        with KeyProcess(SEALED, SEALED_PORT, passphrase) as process:
            process.open(Desk.open_key, identity, process.secret)
            with showing(size) as progress:
                process.expect(say("The process that opens the sealed file ended before it was open."))
                for done, _total in process.ask(Desk.open_file, (Path(os.path.abspath(sealed)), out), cancel):
                    progress(min(done, size), size)
        yield out


@contextmanager
def private_folder(size: int = 0) -> Iterator[Path]:
    """Provide a folder of this user alone, which is removed with all that is in it when the block is left.

    Args:
        size: How many bytes will lie there.

    Raises:
        ObstacleError: There is no place for it.
    """
    home = _home(size)
    _remove_left_behind(home)
    try:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=home))
        handle = os.open(folder / _IN_USE, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise ObstacleError(
            say("There is no folder for what was sealed: {0}.", error.strerror or error),
            remedy=say("Set TMPDIR to a folder that can be written and has room."),
        ) from error
    try:
        lock(handle)
        inside = folder / _HELD
        inside.mkdir(0o700)
        yield inside
    finally:
        os.close(handle)
        shutil.rmtree(folder, ignore_errors=True)


def _home(size: int) -> Path:
    """Where private folders lie: in memory, where this user has such a place with room; else with temporary files."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.name == "posix" and os.path.isabs(runtime):
        with suppress(OSError):
            found = os.stat(runtime)
            own = found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == 0o700
            if own and shutil.disk_usage(runtime).free > _SPARE * size:
                return Path(runtime)
    return Path(tempfile.gettempdir())


def _remove_left_behind(home: Path) -> None:
    """Remove what a killed process of this user left there, known by a lock that nobody holds."""
    if os.name != "posix":  # without such locks nobody knows; the system's own tidying removes it
        return
    with suppress(OSError):
        for folder in home.glob(f"{_PREFIX}*"):
            with suppress(OSError):
                found = folder.lstat()
                old = time.time() - found.st_mtime > _LEFT_SECONDS
                if not old or found.st_uid != os.geteuid() or not stat.S_ISDIR(found.st_mode):
                    continue
                handle = os.open(folder / _IN_USE, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
                try:
                    if lock(handle):
                        shutil.rmtree(folder, ignore_errors=True)
                finally:
                    os.close(handle)

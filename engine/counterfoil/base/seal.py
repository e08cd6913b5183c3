"""What a user's programs keep for themselves, sealed: HMAC-SHA256 (RFC 2104) with a secret of this user.

A digest alone tells a torn file from a whole one; whoever can put a file where it is looked for can make the digest
too. The key lies in the user's state folder, for nobody else to read, and is made once. Whoever can read it can forge
what it seals: so a seal is of use against everybody but programs of the same user and the system's administrators.
"""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

import platformdirs

from counterfoil.base.joberrors import SealError, TargetExistsError
from counterfoil.base.wholefiles import write_whole
from counterfoil_core.base.sentence import say

SEAL_BYTES = 32
_KEY_BYTES = 32


def state_home() -> Path:
    """Return the folder in which this user's Counterfoil keeps what it goes on from."""
    return platformdirs.user_state_path("counterfoil", appauthor=False)


def key_path() -> Path:
    """Return where the secret lies."""
    return state_home() / "seal.key"


def seal(data: bytes) -> bytes:
    """Return the seal of some bytes, which begin with what they are; the secret is made if there is none.

    Raises:
        SealError: The secret cannot be used, or not be made.
        FileWriteError: The same: there is no room for it.
    """
    path = key_path()
    if not path.exists():
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise _unusable(path, error.strerror or str(error)) from error
        with suppress(TargetExistsError):  # another process was faster
            write_whole(path, secrets.token_bytes(_KEY_BYTES), what=say("the secret key"), mode=0o600, replace=False)
    return hmac.digest(_key(path), data, "sha256")


def check_seal(data: bytes, found: bytes) -> None:
    """Check the seal of some bytes.

    Raises:
        SealError: It is not this user's, or the secret is gone or cannot be used.
    """
    if not hmac.compare_digest(hmac.digest(_key(key_path()), data, "sha256"), found):
        raise SealError(say("It is damaged, or was not kept by this user."))


def _key(path: Path) -> bytes:
    try:
        # A link may lead anywhere, and a pipe would make the program wait.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            found = os.fstat(handle)
            with os.fdopen(handle, "rb", closefd=False) as file:
                key = file.read(_KEY_BYTES + 1) if stat.S_ISREG(found.st_mode) else b""
        finally:
            os.close(handle)
    except FileNotFoundError as error:
        raise _unusable(path, say("it is not there")) from error
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from error
    if os.name == "posix" and found.st_uid != os.geteuid():
        raise _unusable(path, say("it belongs to another user"))
    if os.name == "posix" and found.st_mode & 0o077:
        raise _unusable(path, say("others can read or write it"))
    if len(key) != _KEY_BYTES:
        raise _unusable(path, say("it is no key"))
    return key


def _unusable(path: Path, why: str) -> SealError:
    return SealError(
        say("The secret key {0}, which seals what this user keeps, cannot be used: {1}.", path, why),
        remedy=say("If you do not know why, remove it: another one is made, and what was kept before is not used."),
    )

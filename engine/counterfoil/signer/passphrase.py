"""What processes that hold a private key have in common: the passphrase they ask for, and how they say why not."""

from __future__ import annotations

import ctypes
import getpass
import io
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from counterfoil.signer.environment import MAX_PASSPHRASE_BYTES
from counterfoil.talk.line import deadline
from counterfoil.talk.programs import DESCRIPTOR_VARIABLE, PASSPHRASE_VARIABLE
from counterfoil_core.base.errors import KeyFileError
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.publickeys import is_in_hardware

# Keeps the memory of a process that holds a secret to itself, as far as the system lets it.

_PR_SET_DUMPABLE = 4
"""Of prctl(2): when 0, no core is dumped, and other processes of the same user can neither trace nor read this one."""


def protect_memory() -> None:
    """Let no core be dumped; on Linux, let no other process of the user read this one's memory (prctl(2))."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def ignore_signals() -> None:
    """Go on when the user presses Ctrl-C or a service is stopped: the client decides, and closes the pipe."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):
        number = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, signal.SIG_IGN)


FRAME_SECONDS = 30.0
"""How long a message may take once it has begun, and a passphrase through a pipe at all."""
FROM_PIPE, FROM_RELAY, FROM_TERMINAL, FROM_NOWHERE = "pipe", "relay", "terminal", "none"


@dataclass(frozen=True)
class Secret:
    """Where the passphrase of a key comes from, and the passphrase itself where the client has it."""

    source: str = FROM_NOWHERE
    text: Annotated[bytes, Meta(max_length=MAX_PASSPHRASE_BYTES)] = field(default=b"", repr=False)


def take_passphrase(secret: Secret, path: Path, needed: Callable[[], bool], *, create: bool) -> str | None:
    """Return the passphrase of a key; None for none.

    Args:
        secret: Where it comes from.
        path: The private key file, or the URI of a key in hardware, for the question.
        needed: Whether the key that lies there has one.
        create: Whether the key is made with it.

    Raises:
        KeyFileError: There is none to be had, or what was given is none.
    """
    if secret.source in (FROM_PIPE, FROM_RELAY):
        if secret.source == FROM_RELAY and not create and not needed():
            return None  # it was there for whatever key is used
        return secret.text.decode("utf-8", "surrogateescape") or None
    if create or needed():
        return _ask(secret.source, path, twice=create)
    return None


def _ask(source: str, path: Path, *, twice: bool) -> str:
    if source == FROM_TERMINAL:
        return ask_terminal(path, twice=twice)
    if source.isdecimal():
        with deadline(FRAME_SECONDS), io.FileIO(int(source), "rb") as file:
            return _read_passphrase(file)
    raise KeyFileError(
        say(
            "The key in {0} needs a passphrase, and there is no terminal to ask on.",
            os.fspath(path) if is_in_hardware(path) else path.name,
        ),
        remedy=say(
            "Give it through a file descriptor, whose number is in the environment variable {0}, or in the "
            "environment variable {1}.",
            DESCRIPTOR_VARIABLE,
            PASSPHRASE_VARIABLE,
        ),
    )


def ask_terminal(path: Path, *, twice: bool) -> str:
    """Ask for the passphrase of a key on the terminal of this process; raises KeyFileError where there is none."""
    if os.name == "posix":  # getpass would fall back to the client's pipe
        try:
            os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
        except OSError as error:
            raise KeyFileError(say("There is no terminal to ask for the passphrase on.")) from error
    try:
        if is_in_hardware(path):
            return getpass.getpass(say("PIN of {0}: ", repr(os.fspath(path))))
        if not twice:
            return getpass.getpass(say("Passphrase of {0}: ", repr(path.name)))
        first = getpass.getpass(say("New passphrase: "))
        if getpass.getpass("The same again: ") != first:
            raise KeyFileError(say("The two passphrases differ."), remedy=say("Try again."))
        return first
    except EOFError as error:
        raise KeyFileError(say("No passphrase was given."), remedy=say("Try again.")) from error


def _read_passphrase(file: io.FileIO) -> str:
    data = b""
    while len(data) <= MAX_PASSPHRASE_BYTES and (piece := file.read(MAX_PASSPHRASE_BYTES)):
        data += piece
    if len(data) > MAX_PASSPHRASE_BYTES:
        raise KeyFileError(say("What was given as the passphrase is too long for one."))
    return data.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "surrogateescape")

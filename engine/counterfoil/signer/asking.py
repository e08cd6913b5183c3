"""What processes that hold a private key have in common: the passphrase they ask for, and how they say why not."""

from __future__ import annotations

import getpass
import io
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from counterfoil.base.joberrors import SignerError
from counterfoil.signer.frames import MAX_PASSPHRASE_BYTES, FrameKind, Pipe, receive_body, receive_kind, send_frame
from counterfoil.talk.programs import DESCRIPTOR_VARIABLE, PASSPHRASE_VARIABLE
from counterfoil_core.base.errors import CounterfoilError, KeyFileError
from counterfoil_core.base.sentence import packed, say
from counterfoil_core.signing.publickeys import is_in_hardware

FRAME_SECONDS = 30.0
"""How long a frame may take once it has begun, and a passphrase through a pipe at all."""
FROM_PIPE, FROM_RELAY, FROM_TERMINAL, FROM_NOWHERE = "pipe", "relay", "terminal", "none"
_TIMED_OUT = 3
"""Exit code when a frame did not come to its end."""


def serve_client(serve: Callable[[Pipe, Pipe], int]) -> int:
    """Serve the client of this process through its standard input and output.

    Args:
        serve: Given the client's pipe and that of the answers; returns the exit code.

    Returns:
        The exit code: that of ``serve``, or 1 when the client is gone.
    """
    # Until the key is open Ctrl-C ends the question for the passphrase: it is asked here, and by nobody else.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    requests = io.FileIO(sys.stdin.fileno(), "rb", closefd=False)
    # Nothing but frames may go to the client, whatever a library prints.
    answers = io.FileIO(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        return serve(requests, answers)
    except OSError:  # the client is gone
        return 1


def take_passphrase(
    source: str, path: Path, requests: Pipe, patience: float, needed: Callable[[], bool], *, create: bool
) -> str | None:
    """Return the passphrase of a key; None for none.

    Args:
        source: Where it comes from, as the client says.
        path: The private key file, or the URI of a key in hardware, for the question.
        requests: The client's pipe.
        patience: How long it may take, in seconds, where no person is asked.
        needed: Whether the key that lies there has one.
        create: Whether the key is made with it.

    Raises:
        KeyFileError: There is none to be had, or what was given is none.
        SignerError: The client sent something else.
    """
    if source in (FROM_PIPE, FROM_RELAY):
        with deadline(patience):
            kind = receive_kind(requests)
            if kind is not FrameKind.PASSPHRASE:
                raise SignerError(say("The signer was sent something else than a passphrase."))
            passphrase = receive_body(requests, kind).decode("utf-8", "surrogateescape") or None
        if source == FROM_RELAY and not create and not needed():
            return None  # it was there for whatever key is used
        return passphrase
    if create or needed():
        return _ask(source, path, patience, twice=create)
    return None


def _ask(source: str, path: Path, patience: float, *, twice: bool) -> str:
    if source == FROM_TERMINAL:
        return ask_terminal(path, twice=twice)
    if source.isdecimal():
        with deadline(patience), io.FileIO(int(source), "rb") as file:
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


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """End the process when the block takes longer: reading a pipe cannot be interrupted on every system."""
    timer = threading.Timer(seconds, os._exit, (_TIMED_OUT,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def tell_failure(answers: Pipe, error: Exception) -> None:
    """Tell the client; an exception of others may quote a secret, so only its class is named."""
    sentence: str = say("The signer failed: {0}.", type(error).__name__)
    remedy = ""
    if isinstance(error, CounterfoilError):
        sentence, remedy = error.sentence, error.remedy
    told = {"error": type(error).__name__, "sentence": packed(sentence), "remedy": packed(remedy)}
    send_frame(answers, FrameKind.FAILURE, json.dumps(told).encode())

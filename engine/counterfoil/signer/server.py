"""The signer's own process: asks for the passphrase, loads the key, and signs what the gate lets pass."""

from __future__ import annotations

import argparse
import getpass
import io
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from counterfoil.base.errors import CancelledError, CounterfoilError, KeyFileError, SignerError
from counterfoil.base.programs import DESCRIPTOR_VARIABLE, PASSPHRASE_VARIABLE
from counterfoil.base.sentence import packed, say
from counterfoil.signer.frames import MAX_PASSPHRASE_BYTES, FrameKind, Pipe, receive_body, receive_kind, send_frame
from counterfoil.signer.gate import Gate, Purpose
from counterfoil.signer.hardening import ignore_signals, protect_memory
from counterfoil.signing.keys import PrivateKey, generate_key, load_private_key, needs_passphrase
from counterfoil.signing.publickeys import is_in_hardware

FRAME_SECONDS = 30.0
"""How long a frame may take once it has begun, and a passphrase through a pipe at all."""
FROM_PIPE, FROM_RELAY, FROM_TERMINAL, FROM_NOWHERE = "pipe", "relay", "terminal", "none"
_TIMED_OUT = 3
"""Exit code when a frame did not come to its end."""


def main(arguments: list[str] | None = None) -> int:
    """Serve one client until it closes the pipe; the process's main function.

    Returns:
        The exit code: 0 when the client is done, 1 when there was no key to sign with, or the client broke the rules.
    """
    protect_memory()
    # Until the key is open Ctrl-C ends the question for the passphrase: it is asked here, and by nobody else.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options = _parse(arguments)
    requests = io.FileIO(sys.stdin.fileno(), "rb", closefd=False)
    # Nothing but frames may go to the client, whatever a library prints.
    answers = io.FileIO(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        return _serve(options, requests, answers)
    except OSError:  # the client is gone
        return 1


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="counterfoil.signer.server", allow_abbrev=False)
    parser.add_argument("--key", type=Path, required=True)
    parser.add_argument("--purpose", type=Purpose, required=True)
    parser.add_argument("--about", default="")
    parser.add_argument("--passphrase-from", default=FROM_NOWHERE, dest="source")
    parser.add_argument("--create", action="store_true")
    parser.add_argument("--patience", type=float, default=FRAME_SECONDS)
    return parser.parse_args(arguments)


def _serve(options: argparse.Namespace, requests: Pipe, answers: Pipe) -> int:
    try:
        key = _open_key(options, requests)
    except KeyboardInterrupt:  # at the question for the passphrase
        _fail(answers, CancelledError(say("Stopped; nothing was concluded.")))
        return 1
    except Exception as error:  # whatever it says may quote a secret: only our own sentences leave this process
        _fail(answers, error)
        return 1
    ignore_signals()
    send_frame(answers, FrameKind.READY, key.public.pem.encode())
    about: str = options.about
    gate = Gate(options.purpose, key.public, about.encode("utf-8", "replace").decode())
    while True:
        try:
            kind = receive_kind(requests)
            if kind is None:
                return 0
            if kind is not FrameKind.STATEMENT:
                raise SignerError(say("The signer was sent something else than a statement."))
            with _deadline(options.patience):
                payload = receive_body(requests, kind)
        except SignerError as error:  # nothing that follows can be understood
            _fail(answers, error)
            return 1
        try:
            gate.check(payload)
            envelope = key.sign(payload)
        except Exception as error:  # the client is told, and may ask for another signature
            _fail(answers, error)
        else:
            send_frame(answers, FrameKind.ENVELOPE, envelope)


def _open_key(options: argparse.Namespace, requests: Pipe) -> PrivateKey:
    path: Path = options.key
    hardware = is_in_hardware(path)
    passphrase: str | None = None
    if options.source in (FROM_PIPE, FROM_RELAY):
        with _deadline(options.patience):
            kind = receive_kind(requests)
            if kind is not FrameKind.PASSPHRASE:
                raise SignerError(say("The signer was sent something else than a passphrase."))
            passphrase = receive_body(requests, kind).decode("utf-8", "surrogateescape") or None
        if options.source == FROM_RELAY and not options.create and not hardware and not needs_passphrase(path):
            passphrase = None  # it was there for whatever key is used
    elif options.create or hardware or needs_passphrase(path):
        passphrase = _ask(options.source, path, options.patience, twice=options.create)
    if hardware:
        from counterfoil.signing.hardware import open_hardware_key

        return open_hardware_key(os.fspath(path), passphrase or "")
    if options.create:
        generate_key(path, passphrase)
    return load_private_key(path, passphrase)


def _ask(source: str, path: Path, patience: float, *, twice: bool) -> str:
    if source == FROM_TERMINAL:
        return _ask_terminal(path, twice=twice)
    if source.isdecimal():
        with _deadline(patience), io.FileIO(int(source), "rb") as file:
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


def _ask_terminal(path: Path, *, twice: bool) -> str:
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
def _deadline(seconds: float) -> Iterator[None]:
    """End the process when the block takes longer: reading a pipe cannot be interrupted on every system."""
    timer = threading.Timer(seconds, os._exit, (_TIMED_OUT,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _fail(answers: Pipe, error: Exception) -> None:
    """Tell the client; an exception of others may quote a secret, so only its class is named."""
    sentence: str = say("The signer failed: {0}.", type(error).__name__)
    remedy = ""
    if isinstance(error, CounterfoilError):
        sentence, remedy = error.sentence, error.remedy
    told = {"error": type(error).__name__, "sentence": packed(sentence), "remedy": packed(remedy)}
    send_frame(answers, FrameKind.FAILURE, json.dumps(told).encode())

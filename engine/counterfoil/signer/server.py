"""The signer's own process: asks for the passphrase, loads the key, and signs what the gate lets pass."""

from __future__ import annotations

import os
import signal
import sys
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

from msgspec import Meta

from counterfoil.base.joberrors import SignerError
from counterfoil.signer.passphrase import FRAME_SECONDS, Secret, ignore_signals, protect_memory, take_passphrase
from counterfoil.talk.line import Line
from counterfoil.talk.port import Port
from counterfoil.talk.table import MOST_STATEMENT, SIGNER, Program
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.publickeys import is_in_hardware

if TYPE_CHECKING:
    from counterfoil.signer.gate import Gate
    from counterfoil.signing.privatekeys import PrivateKey


class Desk:
    """What holds a private key; what it needs is loaded with the key, as its client has no use for it."""

    def __init__(self) -> None:
        self._key: PrivateKey | None = None
        self._gate: Gate | None = None

    def open_key(self, key: Path, purpose: str, about: str, secret: Secret, create: bool) -> str:
        """Load a private key, once.

        Args:
            key: The private key file, or the URI of a key in hardware.
            purpose: What for: a value of :class:`counterfoil.signer.gate.Purpose`.
            about: Name of the file that a verdict must be about; empty for any.
            secret: Where its passphrase comes from.
            create: Whether the key is made first.

        Returns:
            The public key as PEM.
        """
        from counterfoil.signer.gate import Gate, Purpose
        from counterfoil.signing.privatekeys import generate_key, load_private_key, needs_passphrase

        if self._key is not None:
            raise SignerError(say("The signer was sent something else than a statement."))
        hardware = is_in_hardware(key)
        if hardware:
            from counterfoil.signing.hardware import open_hardware_key, parse_uri

            parse_uri(os.fspath(key))  # before anything is asked: the question shows it, and it may hold a PIN
        needed = (lambda: True) if hardware else partial(needs_passphrase, key)
        passphrase = take_passphrase(secret, key, needed, create=create)
        if hardware:
            loaded = open_hardware_key(os.fspath(key), passphrase or "")
        else:
            if create:
                generate_key(key, passphrase)
            loaded = load_private_key(key, passphrase)
        self._gate = Gate(Purpose(purpose), loaded.public, about.encode("utf-8", "replace").decode())
        self._key = loaded
        ignore_signals()
        return loaded.public.pem

    def sign(self, statement: Annotated[bytes, Meta(max_length=MOST_STATEMENT)]) -> bytes:
        """Sign the canonical JSON of an in-toto statement that the gate lets pass; returns the envelope."""
        if self._key is None or self._gate is None:
            raise SignerError(say("The signer was sent something else than a passphrase."))
        self._gate.check(statement)
        return self._key.sign(statement)


SIGNER_PORT = Port[Desk](Desk.open_key, Desk.sign)
"""What the signer may be asked."""


def main() -> int:
    """Serve one client until it closes the pipe; the process's main function."""
    return serve(SIGNER, SIGNER_PORT, Desk())


def serve(program: Program, port: Port[Any], desk: object) -> int:
    """Be a process that holds a private key: its one argument, where it has one, is its patience in seconds."""
    protect_memory()
    # Until the key is open Ctrl-C ends the question for the passphrase: it is asked here, and by nobody else.
    signal.signal(signal.SIGINT, _interrupted)
    patience = float(sys.argv[1]) if sys.argv[1:] else FRAME_SECONDS
    # It does not leave at once: a terminal that it asks on would be left as it is.
    return Line(program, port, leaves=False, patience=patience).serve(desk, stop=_stop)


def _interrupted(_number: int, _frame: object) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _stop(token: CancelToken) -> None:
    """Stop a call; a question on the terminal too, should it have begun to read just when Ctrl-C was pressed."""
    token.cancel()
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

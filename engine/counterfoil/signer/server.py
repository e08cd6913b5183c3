"""The signer's own process: asks for the passphrase, loads the key, and signs what the gate lets pass."""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path

from counterfoil.base.joberrors import SignerError
from counterfoil.signer.asking import FRAME_SECONDS, FROM_NOWHERE, deadline, serve_client, take_passphrase, tell_failure
from counterfoil.signer.frames import FrameKind, Pipe, receive_body, receive_kind, send_frame
from counterfoil.signer.gate import Gate, Purpose
from counterfoil.signer.hardening import ignore_signals, protect_memory
from counterfoil.signing.privatekeys import PrivateKey, generate_key, load_private_key, needs_passphrase
from counterfoil_core.base.errors import CancelledError
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.publickeys import is_in_hardware


def main(arguments: list[str] | None = None) -> int:
    """Serve one client until it closes the pipe; the process's main function.

    Returns:
        The exit code: 0 when the client is done, 1 when there was no key to sign with, or the client broke the rules.
    """
    protect_memory()
    return serve_client(partial(_serve, _parse(arguments)))


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
        tell_failure(answers, CancelledError(say("Stopped; nothing was concluded.")))
        return 1
    except Exception as error:  # whatever it says may quote a secret: only our own sentences leave this process
        tell_failure(answers, error)
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
            with deadline(options.patience):
                payload = receive_body(requests, kind)
        except SignerError as error:  # nothing that follows can be understood
            tell_failure(answers, error)
            return 1
        try:
            gate.check(payload)
            envelope = key.sign(payload)
        except Exception as error:  # the client is told, and may ask for another signature
            tell_failure(answers, error)
        else:
            send_frame(answers, FrameKind.ENVELOPE, envelope)


def _open_key(options: argparse.Namespace, requests: Pipe) -> PrivateKey:
    path: Path = options.key
    hardware = is_in_hardware(path)
    if hardware:
        from counterfoil.signing.hardware import open_hardware_key, parse_uri

        parse_uri(os.fspath(path))  # before anything is asked: the question shows it, and it may hold a PIN
    needed = (lambda: True) if hardware else partial(needs_passphrase, path)
    passphrase = take_passphrase(options.source, path, requests, options.patience, needed, create=options.create)
    if hardware:
        return open_hardware_key(os.fspath(path), passphrase or "")
    if options.create:
        generate_key(path, passphrase)
    return load_private_key(path, passphrase)

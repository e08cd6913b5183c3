"""The process that holds a judge's private sealing key: makes one, or opens one sealed file with it, and ends.

Nothing but the header and the pieces of one sealed file is read here besides the key, by a library in a language that
is safe in memory; what was sealed is written out unread.
"""

from __future__ import annotations

import argparse
import io
import os
from functools import partial
from pathlib import Path

from counterfoil.base.wholefiles import writing
from counterfoil.sealed.agefile import check_header, library
from counterfoil.sealed.identity import load_identities, make_identity, needs_passphrase
from counterfoil.sealed.writing import Kept, Told, passing
from counterfoil.signer.asking import FRAME_SECONDS, FROM_NOWHERE, serve_client, take_passphrase, tell_failure
from counterfoil.signer.frames import FrameKind, Pipe, send_frame
from counterfoil.signer.hardening import ignore_signals, protect_memory
from counterfoil_core.base.errors import CancelledError, CounterfoilError, GivenFileError, KeyFileError
from counterfoil_core.base.inputs import open_input
from counterfoil_core.base.sentence import say


def main(arguments: list[str] | None = None) -> int:
    """Do one thing for the client; the process's main function.

    Returns:
        The exit code: 0 when it is done, 1 when not.
    """
    protect_memory()
    return serve_client(partial(_serve, _parse(arguments)))


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="counterfoil.sealed.server", allow_abbrev=False)
    parser.add_argument("--identity", type=Path, required=True)
    parser.add_argument("--passphrase-from", default=FROM_NOWHERE, dest="source")
    parser.add_argument("--create", action="store_true")
    parser.add_argument("--sealed", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--patience", type=float, default=FRAME_SECONDS)
    return parser.parse_args(arguments)


def _serve(options: argparse.Namespace, requests: Pipe, answers: Pipe) -> int:
    path: Path = options.identity
    try:
        needed = partial(needs_passphrase, path)
        passphrase = take_passphrase(options.source, path, requests, options.patience, needed, create=options.create)
        if options.create:
            send_frame(answers, FrameKind.READY, make_identity(path, passphrase).encode())
            return 0
        identities = load_identities(path, passphrase)
        ignore_signals()
        send_frame(answers, FrameKind.READY, b"")
        _open(options.sealed, options.out, path, identities)
        send_frame(answers, FrameKind.ENVELOPE, b"")
    except KeyboardInterrupt:  # at the question for the passphrase
        tell_failure(answers, CancelledError(say("Stopped; nothing was concluded.")))
    except Exception as error:  # whatever it says may quote a secret: only our own sentences leave this process
        tell_failure(answers, error)
    else:
        return 0
    return 1


def _open(sealed: Path, out: Path, identity: Path, identities: list[object]) -> None:
    """Open a sealed file into a new one that its owner alone may read."""
    age = library()
    check_header(sealed)
    what = say("what was sealed")
    with writing(out, what), open_input(sealed, say("a sealed file"), GivenFileError) as source:
        told = Told(source, os.fstat(source.fileno()).st_size)
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

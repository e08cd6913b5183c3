"""The signer's process as the commands use it, and where a passphrase comes from."""

from __future__ import annotations

import sys
from pathlib import Path

from counterfoil.errors import CounterfoilError, SignerError
from counterfoil.signer.client import Passphrase, SignerProcess, start_signer
from counterfoil.signer.environment import take_descriptor
from counterfoil.wholefiles import write_whole


def open_key(path: Path, purpose: str, about: Path | None = None) -> SignerProcess:
    """Start the process that holds the private key; this one, which reads files of strangers, never does."""
    return start_signer(path, purpose, ask_passphrase(), about=about.name if about is not None else "")


def ask_passphrase() -> Passphrase:
    """Return the passphrase of a descriptor, or one that is asked for at a terminal, or none."""
    descriptor = take_descriptor()
    if descriptor is not None:
        return Passphrase.read_from(descriptor)
    return Passphrase.asked() if sys.stdin.isatty() else Passphrase.none()


def sign_into(statement: bytes, signer: SignerProcess, target: Path) -> None:
    """Sign and write; what cannot be signed is kept, since it may be the work of days."""
    try:
        envelope = signer.sign(statement)
    except CounterfoilError as error:
        kept = target.with_name(f"{target.name}.unsigned")
        write_whole(kept, statement, what="the statement")
        raise SignerError(
            f"{error.sentence} What was to be signed is in {kept}, and nothing else is lost.",
            remedy=f"Sign it with: counterfoil sign {kept} --key KEY --out {target}",
            detail=str(error),
        ) from error
    finally:
        signer.close()
    write_whole(target, envelope, what="the signed statement")

"""The signer's process as the commands use it, and where a passphrase comes from."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console

from counterfoil.base.joberrors import SignerError
from counterfoil.base.wholefiles import write_whole
from counterfoil.cli import monitor, terminal
from counterfoil.cli.targets import check_writable
from counterfoil.cli.terminal import markup
from counterfoil.signer.client import SignerProcess, ask_passphrase, start_signer
from counterfoil.signer.environment import drop_passphrase
from counterfoil_core.base.errors import CounterfoilError, DataError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.remote.address import Address
from counterfoil_core.signing.publickeys import others_can_read


def open_key(path: Path, purpose: str, about: Path | Address | None = None) -> SignerProcess:
    """Start the process that holds the private key; this one, which reads files of strangers, never does.

    Args:
        path: The private key file.
        purpose: What it is to sign, one of the signer's purposes: the value of a
            :class:`counterfoil.signer.gate.Purpose`.
        about: The file that is signed about, for whoever is asked.
    """
    if others_can_read(path):
        terminal.console(stderr=True).print(
            f"[bold yellow]WARNING[/]  Other users of this machine can read the private key {markup(str(path))}. If "
            "that is not meant so, make it yours alone (chmod 600), and a new key if somebody may have read it.",
            soft_wrap=True,
        )
    name = about.name if about is not None else ""
    outside = monitor.current_monitor()
    if outside is not None:
        return outside.open_key(path, purpose, name)
    return start_signer(path, purpose, ask_passphrase(), about=name)


def open_verdict_key(
    verdict: Path | None, key: Path | None, about: Path | Address, force: bool, certificate: Path | None = None
) -> SignerProcess | None:
    """Open the key that signs a verdict about a file, before work that may take hours; None where none is wanted.

    Args:
        verdict: Where the verdict goes.
        key: The auditor's private key file.
        about: The file that the verdict is about.
        force: Whether a file that lies there may be replaced.
        certificate: The X.509 chain of that key, which lies beside the signature.

    Raises:
        BadParameter: One of ``verdict`` and ``key`` is given without the other, or ``certificate`` without them.
        FileWriteError: Nothing can be written to ``verdict``, or it exists and ``force`` is not given.
        SignerError: The key cannot be opened.
    """
    if (verdict is None) != (key is None):
        raise typer.BadParameter("--verdict and --key belong together: what is written is signed.")
    if verdict is None or key is None:
        if certificate is not None:
            raise typer.BadParameter("--certificate belongs to --key: it says whose that key is.")
        drop_passphrase()
        return None
    check_writable(verdict, force)
    return with_chain(open_key(key, "audit", about), certificate)


def with_chain(signer: SignerProcess, certificate: Path | None) -> SignerProcess:
    """Let the X.509 chain of a key lie beside what it signs; returns the signer.

    Args:
        signer: Holds the key; it is closed where the chain is not the key's.
        certificate: The chain, PEM, the leaf first; None for none.

    Raises:
        DataError: There are no certificates in the file, or too many.
        SignatureError: They are not about this key, not in order, or not valid now.
    """
    if certificate is None:
        return signer
    from counterfoil.signing.certificates import MAX_CHAIN_BYTES, check_own_chain, read_certificates

    try:
        chain = read_certificates(read_input(certificate, "a certificate", DataError, most=MAX_CHAIN_BYTES))
        check_own_chain(chain, signer.public)
    except CounterfoilError:
        signer.close()
        raise
    signer.certificates = chain
    return signer


def sign_into(statement: bytes, signer: SignerProcess, target: Path) -> None:
    """Sign and write; what cannot be signed is kept, since it may be the work of days.

    Args:
        statement: Canonical JSON of an in-toto statement.
        signer: Holds the key; it is closed.
        target: Where the envelope goes.

    Raises:
        SignerError: It cannot be signed; ``TARGET.unsigned`` holds the statement.
        FileWriteError: It cannot be written.
    """
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


def sign_verdict(statement: bytes, signer: SignerProcess, target: Path, console: Console) -> None:
    """Sign and write what was judged, and say so.

    Args:
        statement: Canonical JSON of the verdict.
        signer: Holds the auditor's key; it is closed.
        target: Where the envelope goes.
        console: Where it is said.
    """
    sign_into(statement, signer, target)
    console.print(f"Wrote {markup(str(target))}, signed with the key {signer.public.key_id}.")

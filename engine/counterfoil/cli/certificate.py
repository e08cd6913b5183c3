"""The X.509 chain beside a verdict's signature as ``verify`` takes it: which roots answer for the name in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.cli import terminal
from counterfoil.cli.places import READS
from counterfoil.cli.terminal import markup
from counterfoil_core.base.errors import DataError, SignatureError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import read_timestamp

if TYPE_CHECKING:
    from counterfoil.signing.certificates import CertifiedName
    from counterfoil_core.signing.keys import PublicKey

RootsOption = Annotated[
    Path | None,
    READS,
    typer.Option(
        help="The certificates (.pem) of authorities that you trust: one of them must answer for the name beside the "
        "signature. Then --key is not needed.",
        show_default=False,
    ),
]
AtOption = Annotated[
    str | None,
    typer.Option(
        help="When the certificates must be valid, such as 2026-01-31T12:00:00Z: a time by which, as you know "
        "otherwise, the verdict was there. The time in the verdict is its signer's word.",
        show_default="now",
    ),
]


def verifying_key(envelope: bytes, key: PublicKey | None, roots: Path | None) -> PublicKey:
    """Return the key that must have signed a verdict: the one that is given, else that of the certificate beside it.

    Raises:
        BadParameter: Neither key nor roots are given.
        SignatureError: There is no certificate beside it.
    """
    if key is not None:
        return key
    if roots is None:
        raise typer.BadParameter("Give the auditor's key with --key, or the roots of its certificate with --roots.")
    from counterfoil.signing.certificates import leaf_key

    return leaf_key(_chain_of(envelope))


def name_beside(envelope: bytes, key: PublicKey, roots: Path | None, at: str | None) -> CertifiedName | None:
    """Return the name that is certified, or only claimed, beside a signature; None where there is none.

    Args:
        envelope: The verdict.
        key: The key that signed it.
        roots: The file of the roots; None where nobody answers for the name.
        at: When the certificates must be valid; None for now.

    Raises:
        BadParameter: ``at`` is no time, or is given without roots.
        DataError: The roots cannot be read.
        SignatureError: The certificate is about another key; or roots are given, and none answers for the name.
    """
    from counterfoil_core.signing.envelope import certificates_in

    try:
        moment = None if at is None else read_timestamp(at)
    except ValueError as error:
        raise typer.BadParameter(f"--at: {error}.") from error
    if roots is None:
        if moment is not None:
            raise typer.BadParameter("--at belongs to --roots.")
        chain = certificates_in(envelope)
        if not chain:
            return None
        from counterfoil.signing.certificates import claimed_name

        return claimed_name(chain, key)
    from counterfoil.signing.certificates import MAX_ROOTS, MAX_ROOTS_BYTES, certified_name, read_certificates

    trusted = read_certificates(read_input(roots, "a certificate", DataError, most=MAX_ROOTS_BYTES), MAX_ROOTS)
    return certified_name(_chain_of(envelope), trusted, key, moment)


def show_name(name: CertifiedName) -> None:
    """Say whom the certificate beside a signature names, and who answers for it."""
    out = terminal.console()
    if not name.is_certified:
        out.print(
            f"[yellow]Claimed name[/]  {markup(name.said)}. Nobody answers for it: give the roots that you trust with "
            "--roots.",
            soft_wrap=True,
        )
        return
    out.print(f"Certified name  {markup(name.said)}", soft_wrap=True)
    out.print(
        f"by the root {markup(name.root)} (SHA-256 {name.root_sha256}), valid at {name.valid_at}. Whether a "
        "certificate was revoked was not asked.",
        soft_wrap=True,
    )


def _chain_of(envelope: bytes) -> tuple[bytes, ...]:
    from counterfoil_core.signing.envelope import certificates_in

    chain = certificates_in(envelope)
    if not chain:
        raise SignatureError(
            say("No certificate lies beside the signature of this verdict."),
            remedy=say("Give the auditor's public key with --key, without --roots."),
        )
    return chain

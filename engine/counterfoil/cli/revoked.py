"""A list of revoked keys, as commands take it, and what it says of the keys of a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.base.errors import DataError
from counterfoil.base.inputs import read_input
from counterfoil.cli import terminal
from counterfoil.cli.places import READS
from counterfoil.cli.terminal import shown
from counterfoil.signing.keys import load_public_key

if TYPE_CHECKING:
    from counterfoil.audit.statement.signed import Signed
    from counterfoil.signing.revocations import RevocationList

RevocationsOption = Annotated[
    Path | None,
    READS,
    typer.Option(help="A signed list of revoked keys, to look the auditor's key up in.", show_default=False),
]
RevocationsKeyOption = Annotated[
    Path | None,
    READS,
    typer.Option(help="The public key of whoever signed that list, a .pub.pem file.", show_default=False),
]


def read_revocations(path: Path | None, key: Path | None) -> RevocationList | None:
    """Read a list of revoked keys; None where none is given.

    Raises:
        BadParameter: One of list and key is given without the other.
        SignatureError: It does not hold for this key.
    """
    from counterfoil.signing.revocations import MAX_BYTES, open_revocations

    if (path is None) != (key is None):
        raise typer.BadParameter("--revocations and --revocations-key belong together.")
    if path is None or key is None:
        return None
    return open_revocations(read_input(path, "a list of keys", DataError, most=MAX_BYTES), load_public_key(key))


def show_revocations(listed: RevocationList, signed: Signed) -> None:
    """Say what a list says of the keys of a verdict."""
    out = terminal.console()
    out.print(f"List {listed.number} of revoked keys, of {listed.issued_at}, signed with the key {listed.key_id[:12]}.")
    auditors, trainers = listed.of(signed.key_id), listed.of(signed.trainer_key)
    if trainers is not None:
        out.print(
            f"[yellow]The trainer's key was revoked[/] from {trainers.since} on ({trainers.cause.value}): "
            f"{shown(trainers.reason)}",
            soft_wrap=True,
        )
    if auditors is None:
        return
    out.print(
        f"[bold red]The auditor's key was revoked[/] from {auditors.since} on ({auditors.cause.value}): "
        f"{shown(auditors.reason)}",
        soft_wrap=True,
    )
    if auditors.covers(signed.signed_at):
        out.print("This verdict no longer counts.")
    else:
        out.print("This verdict was signed before, as its auditor says; nothing else shows when.")

"""A list of revoked keys, as commands take it, and what it says of the keys of a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.cli import terminal
from counterfoil.cli.places import READS
from counterfoil.cli.terminal import shown
from counterfoil_core.base.errors import DataError, FileChangedError, RefusedError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.timestamps import timestamp
from counterfoil_core.signing.keys import load_public_key
from counterfoil_core.signing.kinds import REVOCATIONS

if TYPE_CHECKING:
    from rich.console import Console

    from counterfoil.audit.signers import Signers
    from counterfoil.signing.kinds import Revocation, RevocationList
    from counterfoil_core.statement.signed import Signed
    from counterfoil_core.values.report import Report


@dataclass(frozen=True, kw_only=True)
class Revocations:
    """Which keys no longer count."""

    revocations: Annotated[
        Path | None,
        READS,
        typer.Option(
            help="A signed list of revoked keys, to look those up in whose signatures count here.", show_default=False
        ),
    ] = None
    revocations_key: Annotated[
        Path | None,
        READS,
        typer.Option(help="The public key of whoever signed that list, a .pub.pem file.", show_default=False),
    ] = None

    def read(self) -> RevocationList | None:
        """Read the list; None where none is given.

        Raises:
            BadParameter: One of list and key is given without the other.
            SignatureError: It does not hold for this key.
        """
        from counterfoil.signing.kinds import RevocationList
        from counterfoil_core.signing.statements import open_said

        path, key = self.revocations, self.revocations_key
        if (path is None) != (key is None):
            raise typer.BadParameter("--revocations and --revocations-key belong together.")
        if path is None or key is None:
            return None
        envelope = read_input(path, "a list of keys", DataError, most=REVOCATIONS.most)
        return open_said(RevocationList, envelope, load_public_key(key))


@dataclass(frozen=True)
class Revoked:
    """What a list says of the keys that a run or a capsule was signed with.

    Attributes:
        trainer: Of the trainer's; None where it says nothing.
        client: Of the client's; None where it says nothing.
        signers: Who signed, and when as they say.
        gone: Whose signature no longer counts, ``trainer`` or ``client``, although the conclusion rests on it.
    """

    trainer: Revocation | None
    client: Revocation | None
    signers: Signers
    gone: tuple[str, ...]


def revoked_signers(listed: RevocationList, signers: Signers, *, own_order: bool) -> Revoked:
    """Look up who signed a run and its order.

    Args:
        listed: The list.
        signers: Who signed, and when as they say.
        own_order: Whether the client's own order file is there to compare with: then it counts, and no signature on it.
    """
    trainer, client = listed.of(signers.trainer_key), listed.of(signers.client_key)
    gone = []
    if trainer is not None and trainer.covers(signers.trainer_at):
        gone.append("trainer")
    if client is not None and not own_order and client.covers(signers.client_at):
        gone.append("client")
    return Revoked(trainer, client, signers, tuple(gone))


def show_revoked_signers(out: Console, listed: RevocationList, found: Revoked) -> None:
    """Say what a list says of who signed a run and its order."""
    _show_list(out, listed)
    for who, revocation in (("trainer", found.trainer), ("client", found.client)):
        if revocation is None:
            continue
        _show_revocation(out, who, revocation, "bold red" if who in found.gone else "yellow")
        if who in found.gone:
            out.print(f"What the {who} signed here no longer counts.")
        elif revocation.cause.value == "retired":
            out.print(f"What the {who} signed here was signed before, as the {who} says; nothing else shows when.")


def refuse_revoked(found: Revoked) -> None:
    """Refuse a replay of what was signed with a revoked key, before it begins.

    Raises:
        RefusedError: A signature on which the conclusion would rest no longer counts.
    """
    if found.gone:
        keys = " and ".join(f"the {who}'s key" for who in found.gone)
        raise RefusedError(
            f"Nothing was replayed: {keys} {'were' if len(found.gone) > 1 else 'was'} revoked.",
            remedy="Ask for the file signed with a key that counts. What a replay finds hangs on no key: to see it all "
            "the same, leave --revocations out.",
        )


def check_same_signers(found: Revoked | None, report: Report) -> None:
    """Make sure that what was judged is signed by those who were looked up before; found is None where nobody was.

    Raises:
        FileChangedError: It is not: the file was exchanged meanwhile.
    """
    if found is None:
        return
    for judged, looked_up in (
        (report.trainer_key, found.signers.trainer_key),
        (report.client_key, found.signers.client_key),
    ):
        if judged not in ("", looked_up):
            raise FileChangedError("The file was exchanged while its keys were looked up: another key signed it now.")


def refuse_revoked_auditor(listed: RevocationList, key_id: str) -> None:
    """Refuse to sign a verdict with a revoked key, before a replay that may take hours.

    Raises:
        RefusedError: What this key signs now does not count.
    """
    revocation = listed.of(key_id)
    if revocation is not None and revocation.covers(timestamp()):
        raise RefusedError(
            f"The key that is to sign the verdict, {key_id[:12]}, was revoked from {revocation.since} on "
            f"({revocation.cause.value}): {revocation.reason}",
            remedy="Sign with a key that counts.",
        )


def _show_list(out: Console, listed: RevocationList) -> None:
    out.print(f"List {listed.number} of revoked keys, of {listed.issued_at}, signed with the key {listed.key_id[:12]}.")


def _show_revocation(out: Console, who: str, revocation: Revocation, style: str) -> None:
    out.print(
        f"[{style}]The {who}'s key was revoked[/] from {revocation.since} on ({revocation.cause.value}): "
        f"{shown(revocation.reason)}",
        soft_wrap=True,
    )


def show_revocations(listed: RevocationList, signed: Signed) -> None:
    """Say what a list says of the keys of a verdict."""
    out = terminal.console()
    _show_list(out, listed)
    auditors, trainers = listed.of(signed.key_id), listed.of(signed.trainer_key)
    if trainers is not None:
        _show_revocation(out, "trainer", trainers, "yellow")
    if auditors is None:
        return
    _show_revocation(out, "auditor", auditors, "bold red")
    if auditors.covers(signed.signed_at):
        out.print("This verdict no longer counts.")
    else:
        out.print("This verdict was signed before, as its auditor says; nothing else shows when.")

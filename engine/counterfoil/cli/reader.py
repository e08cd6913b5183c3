"""Whom the reader trusts, as commands take it, and what that says of the keys of a run and a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.cli import terminal
from counterfoil.cli.options import VerdictKeyOption
from counterfoil.cli.places import READS_TRUST
from counterfoil.cli.terminal import markup
from counterfoil_core.base.errors import FileChangedError, RefusedError
from counterfoil_core.base.timestamps import timestamp
from counterfoil_core.signing.keys import load_public_key

if TYPE_CHECKING:
    from rich.console import Console

    from counterfoil.audit.values.runrules import GivenVerdict
    from counterfoil.audit.values.signers import Signers
    from counterfoil.signing.kinds import Revocation
    from counterfoil.trust.store import TrustStore
    from counterfoil.trust.validity import Validity
    from counterfoil.trust.verdictfile import Judgement
    from counterfoil_core.values.report import Report


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Who reads: what is trusted, which keys no longer count, and what was said of verdicts afterwards."""

    trust: Annotated[
        Path | None,
        READS_TRUST,
        typer.Option(
            metavar="DIR",
            help="The folder with the keys that you trust, lists of revoked keys and withdrawn verdicts, as "
            "'counterfoil trust' keeps it; 'none' for none.",
            show_default="yours",
        ),
    ] = None

    @cached_property
    def store(self) -> TrustStore:
        """What is trusted; raises TrustError where something of it is damaged."""
        from counterfoil.trust.folder import read_store

        found = read_store(self.trust)
        if found.digest is not None:
            terminal.console(stderr=True).print(
                f"Keys and statements that you know: SHA-256 {found.digest}", soft_wrap=True
            )
        return found

    def verdicts(self, paths: list[Path] | None, auditors: list[Path] | None) -> list[GivenVerdict]:
        """Read verdicts, each with the key that signed it, and how they stand.

        Args:
            paths: The verdicts.
            auditors: Files of public keys that count beside those of the auditors that are trusted.
        """
        from counterfoil.audit.runrules import given_verdict
        from counterfoil.trust.verdictfile import auditors_of, read_judgement

        keys = auditors_of(self.store, [load_public_key(path) for path in auditors or ()])
        return [given_verdict(read_judgement(path, self.store, keys)) for path in paths or ()]

    def check_run(self, run: Path) -> None:
        """Refuse a run whose trainer's key no longer counts, before something is said of it.

        Raises:
            RefusedError: It does not.
        """
        if self.store.lists:
            from counterfoil.audit.signers import signers_of_run

            found = revoked_signers(self.store, signers_of_run(run), own_order=True)
            refuse_revoked(found, "Nothing is said of this run")


@dataclass(frozen=True, kw_only=True)
class VerdictReader:
    """Who reads a verdict, and with which key."""

    key: VerdictKeyOption
    reader: Reader

    def read(self, path: Path) -> Judgement:
        """Read a verdict, and how it stands; raises as :func:`~counterfoil.trust.verdictfile.read_judgement`."""
        from counterfoil.trust.verdictfile import read_judgement

        return read_judgement(path, self.reader.store, [load_public_key(self.key)])


@dataclass(frozen=True)
class Revoked:
    """What the reader's lists say of the keys that a run or a capsule was signed with."""

    trainer: Revocation | None  #: Of the trainer's; None where they say nothing.
    client: Revocation | None  #: Of the client's; None where they say nothing.
    signers: Signers  #: Who signed, and when as they say.
    #: Whose signature no longer counts, ``trainer``, ``client`` or ``party``, although the conclusion rests on it.
    gone: tuple[str, ...]
    parties: tuple[Revocation, ...] = ()  #: Of those of parties that answer for shares.


def revoked_signers(store: TrustStore, signers: Signers, *, own_order: bool) -> Revoked:
    """Look up who signed a run, its order and its shares.

    Args:
        store: What the reader trusts.
        signers: Who signed, and when as they say.
        own_order: Whether the client's own order file is there to compare with: then it counts, and no signature on it.
    """
    from counterfoil.trust.validity import validity

    trainer, client = (signers.trainer_key, signers.trainer_at), (signers.client_key, signers.client_at)
    found = validity(store, ("", ""), trainer=trainer, client=client, parties=signers.parties)
    gone = tuple(who for who in found.gone if who != "client" or not own_order)
    told = dict(found.revoked)
    parties = tuple(each for role, each in found.revoked if role == "party")
    return Revoked(told.get("trainer"), told.get("client"), signers, gone, parties)


def show_revoked_signers(out: Console, store: TrustStore, found: Revoked) -> None:
    """Say what is known of who signed a run, its order and its shares."""
    show_lists(out, store)
    parties = [("party", each) for each in found.parties]
    for who, revocation in (("trainer", found.trainer), ("client", found.client), *parties):
        if revocation is None:
            continue
        _show_revocation(out, who, revocation, "bold red" if who in found.gone else "yellow")
        if who in found.gone:
            out.print(f"What the {who} signed here no longer counts.")
        elif revocation.cause.value == "retired":
            out.print(f"What the {who} signed here was signed before, as the {who} says; nothing else shows when.")


def refuse_revoked(found: Revoked, what: str = "Nothing was replayed") -> None:
    """Refuse work on what was signed with a revoked key, before it begins; ``what`` begins the sentence.

    Raises:
        RefusedError: A signature on which the conclusion would rest no longer counts.
    """
    if found.gone:
        keys = " and ".join(f"the {who}'s key" for who in found.gone)
        raise RefusedError(
            f"{what}: {keys} {'were' if len(found.gone) > 1 else 'was'} revoked.",
            remedy="Ask for the file signed with a key that counts. What a replay finds hangs on no key: to see it all "
            "the same, give --trust none.",
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


def refuse_revoked_auditor(store: TrustStore, key_id: str) -> None:
    """Refuse to sign a verdict with a revoked key, before a replay that may take hours.

    Raises:
        RefusedError: What this key signs now does not count.
    """
    revocation = store.of(key_id)
    if revocation is not None and revocation.covers(timestamp()):
        raise RefusedError(
            f"The key that is to sign the verdict, {key_id[:12]}, was revoked from {revocation.since} on "
            f"({revocation.cause.value}): {revocation.reason}",
            remedy="Sign with a key that counts.",
        )


def show_lists(out: Console, store: TrustStore) -> None:
    """Say which lists of revoked keys the reader knows."""
    for listed in store.lists:
        out.print(
            f"List {listed.number} of revoked keys, of {listed.issued_at}, signed with the key {listed.key_id[:12]}."
        )


def _show_revocation(out: Console, who: str, revocation: Revocation, style: str) -> None:
    out.print(
        f"[{style}]The {who}'s key was revoked[/] from {revocation.since} on ({revocation.cause.value}): "
        f"{markup(revocation.reason)}",
        soft_wrap=True,
    )


def show_validity(out: Console, store: TrustStore, found: Validity, what: str) -> None:
    """Say what the reader knows of the keys that a statement rests on, and whether it counts; ``what``: "verdict"."""
    show_lists(out, store)
    for role, revocation in found.revoked:
        who = "auditor" if role == "signer" else role
        _show_revocation(out, who, revocation, "bold red" if role in found.gone else "yellow")
        if role == "signer" and role not in found.gone:
            out.print(f"This {what} was signed before, as its auditor says; nothing else shows when.")
    if found.gone:
        out.print(f"This {what} no longer counts.")


def refuse_invalid(found: Validity, what: str) -> None:
    """Refuse what does not count, before it is relied on.

    Raises:
        RefusedError: It does not.
    """
    if not found.counts:
        raise RefusedError(
            f"{what} does not count. {' '.join(found.why)}",
            remedy="Ask for one that counts; --trust none reads without what you know of keys.",
        )

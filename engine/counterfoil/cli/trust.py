"""``counterfoil trust``: the keys that the reader knows, and what no longer counts."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.cli import terminal
from counterfoil.cli.commands import group_of_commands
from counterfoil.cli.jsonform import print_json
from counterfoil.cli.options import JsonOption
from counterfoil.cli.places import READS
from counterfoil.cli.reader import Reader, show_lists
from counterfoil.cli.signedfile import SignedFile
from counterfoil.cli.terminal import markup
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import read_timestamp, timestamp
from counterfoil_core.signing.keys import load_public_key
from counterfoil_core.signing.kinds import REVOCATIONS

if TYPE_CHECKING:
    from counterfoil.trust.folder import TrustFolder

trust_app = group_of_commands(
    name="trust",
    help="Keep the keys that you trust, lists of revoked keys, and verdicts that were withdrawn: every command and the "
    "window read them.",
    no_args_is_help=True,
)


@trust_app.command()
def show(reader: Reader, json: JsonOption = False) -> None:
    """Show what is trusted, after each signature was checked again.

    Example: counterfoil trust show
    """
    store = reader.store
    if json:
        print_json({"trusted": store.digest, "keys": store.keys, "lists": store.lists})
        return
    out = terminal.console()
    if store.digest is None:
        out.print("Nothing is known yet: 'counterfoil trust add' takes in a key.")
        return
    show_lists(out, store)
    for key in store.keys:
        revoked = store.of(key.key_id)
        mark = "" if revoked is None else f"  [bold red]REVOKED[/] from {revoked.since} on ({revoked.cause.value})"
        name = markup(key.name) if key.name else "(no name)"
        out.print(f"{key.role.value:8}  {key.key_id}  {name}{mark}", soft_wrap=True)
    for listed in store.lists:
        for each in listed.revocations:
            if store.find(each.key_id) is None:
                out.print(f"revoked   {each.key_id}  {markup(each.reason)}", soft_wrap=True)
    for name, _ in store.later:
        out.print(f"said of a verdict afterwards: {markup(name)}", soft_wrap=True)


@trust_app.command()
def add(
    reader: Reader,
    key: Annotated[Path, READS, typer.Argument(metavar="KEY", help="A public key file, .pub.pem.", show_default=False)],
    role: Annotated[str, typer.Option(help="Whose it is: auditor, client, trainer, or mine.", show_default=False)],
    name: Annotated[str, typer.Option(help="Whose it is, by name.", show_default=False)],
) -> None:
    """Trust a key, after you have compared its id with its owner by another way.

    Example: counterfoil trust add auditor.pub.pem --role auditor --name "Audit Ltd."
    """
    from counterfoil.trust.keyfile import KeyFile, KnownKey, Role, named_keys

    try:
        kept = Role(role)
    except ValueError as error:
        raise typer.BadParameter(f"--role is one of {', '.join(each.value for each in Role)}.") from error
    public = load_public_key(key).public

    def added(held: KeyFile) -> KeyFile:
        day = datetime.now(UTC).strftime("%Y-%m-%d")
        return named_keys(held, KnownKey(public, kept, name, key.name, day))

    folder = _folder(reader)
    held = folder.change(added)
    entry = next(each for each in held.keys if each.public == public)
    terminal.console().print(f"Trusted as {role}: {entry.key_id}", soft_wrap=True)


@trust_app.command()
def remove(
    reader: Reader,
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="A key id, 64 hexadecimal digits, or a public key file, .pub.pem.")
    ],
) -> None:
    """Trust a key no more; of whoever signs lists of revoked keys, forget the list.

    Example: counterfoil trust remove auditor.pub.pem
    """
    from counterfoil.trust.keyfile import KeyFile

    key_id = key if len(key) == 64 and not Path(key).exists() else load_public_key(Path(key)).key_id
    folder = _folder(reader)
    before = folder.keys()
    if key_id not in {each.key_id for each in before.keys} | {each.key_id for each in before.lists}:
        raise DataError(say("The key {0} is not among those that are trusted.", key_id[:12]))
    folder.drop_list(key_id)
    folder.change(
        lambda held: KeyFile(held.format, tuple(each for each in held.keys if each.key_id != key_id), held.lists)
    )
    terminal.console().print(f"No longer trusted: {key_id}", soft_wrap=True)


@trust_app.command()
def take(
    reader: Reader,
    files: Annotated[
        list[Path],
        READS,
        typer.Argument(
            metavar="FILE...", help="Lists of revoked keys, withdrawals and replies, .json files.", show_default=False
        ),
    ],
    key: Annotated[
        Path | None,
        READS,
        typer.Option(
            help="The public key of whoever signs the list of revoked keys, a .pub.pem file; not needed for the next "
            "list of the same.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Take in a list of revoked keys, or what was said of a verdict after it was signed.

    A withdrawal counts only if the key that signed the verdict signed it; a reply only by the trainer of the run. An
    older list than the one that is known is refused.

    Example: counterfoil trust take revoked.json --key list.pub.pem
    """
    from counterfoil_core.signing.envelope import claimed_key_ids, parse_statement, payload_of

    folder = _folder(reader)
    out = terminal.console()
    for path in files:
        envelope = read_input(path, "a statement", DataError, most=REVOCATIONS.most)
        if parse_statement(payload_of(envelope))["predicateType"] != REVOCATIONS.predicate:
            folder.take_later(envelope)
            out.print(f"Took in {markup(path.name)}: it says something of a verdict.", soft_wrap=True)
            continue
        claimed = claimed_key_ids(envelope)
        known = next((note.public for note in folder.keys().lists if note.key_id in claimed), "")
        if key is None and not known:
            raise typer.BadParameter("Give the key of whoever signs the list of revoked keys with --key.")
        said = folder.take_list(envelope, known if key is None else load_public_key(key).public)
        out.print(
            f"Took in list {said.number} of revoked keys, of {said.issued_at}, signed with the key {said.key_id[:12]}; "
            f"keys in it: {len(said.revocations)}.",
            soft_wrap=True,
        )


def _folder(reader: Reader) -> TrustFolder:
    from counterfoil.trust.folder import TrustFolder, trust_home

    if str(reader.trust) == "none":
        raise typer.BadParameter("--trust none is for commands that read: give a folder here.")
    return TrustFolder(trust_home() if reader.trust is None else reader.trust)


# `counterfoil revoke`: keys that no longer count, in a signed list.


def revoke(
    keys: Annotated[
        list[str],
        typer.Argument(metavar="KEY...", help="Key ids, 64 hexadecimal digits, or public key files, .pub.pem."),
    ],
    file: SignedFile,
    reason: Annotated[str, typer.Option(help="Why, in a sentence.", show_default=False)],
    compromised: Annotated[
        bool,
        typer.Option(
            "--compromised", help="Somebody else has the key, or may have it: nothing counts that it ever signed."
        ),
    ] = False,
    since: Annotated[
        str, typer.Option(help="From when on, such as 2026-01-31T12:00:00Z.", metavar="TIME", show_default="now")
    ] = "",
    list_: Annotated[
        Path | None,
        READS,
        typer.Option("--list", help="The list so far, signed with the same key, to go on from.", show_default=False),
    ] = None,
) -> None:
    """Whoever answers for keys: sign a list of those that no longer count.

    Use a key of its own for it. Hand the list out wherever the keys are known, and each later one too: it holds all
    keys of the one before, and has the next number. 'counterfoil trust take' takes it in.

    Example: counterfoil revoke old.pub.pem --reason "stolen" --compromised --key list.pem --out revoked.json
    """
    when = _moment(since)
    with file.open("revocations") as signer:
        from counterfoil.signing.kinds import Cause, Revocation, RevocationList
        from counterfoil_core.signing.statements import open_said

        before = None
        if list_ is not None:
            before = open_said(
                RevocationList, read_input(list_, "a list of keys", DataError, most=REVOCATIONS.most), signer.public
            )
        cause = Cause.COMPROMISED if compromised else Cause.RETIRED
        new = [Revocation(_key_id(each), when, cause, reason) for each in keys]
        held = () if before is None else before.revocations
        number = 1 if before is None else before.number + 1
        said = RevocationList.of_keys([*held, *new], number)
        file.write(said, signer, "the list of keys")
    console = terminal.console()
    console.print(f"Revoked {', '.join(each.key_id[:12] for each in new)}, from {when} on.")
    console.print(
        f"Wrote {markup(str(file.out))}, number {number}, signed with the key {signer.public.key_id}.", soft_wrap=True
    )


def _moment(since: str) -> str:
    if not since:
        return timestamp(datetime.now(UTC))
    try:
        read_timestamp(since)
    except ValueError as error:
        raise typer.BadParameter("--since takes a time in UTC, such as 2026-01-31T12:00:00Z.") from error
    return since


def _key_id(text: str) -> str:
    """The id of a key that is named by it, or by its file."""
    if len(text) == 64 and not Path(text).exists():
        return text
    return load_public_key(Path(text)).key_id

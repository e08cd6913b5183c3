"""``counterfoil revoke``: keys that no longer count, in a signed list."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from counterfoil.cli import terminal
from counterfoil.cli.places import READS
from counterfoil.cli.signedfile import SignedFile
from counterfoil.cli.terminal import shown
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.timestamps import read_timestamp, timestamp
from counterfoil_core.signing.keys import load_public_key
from counterfoil_core.signing.kinds import REVOCATIONS


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
        f"Wrote {shown(str(file.out))}, number {number}, signed with the key {signer.public.key_id}.", soft_wrap=True
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

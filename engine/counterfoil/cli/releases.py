"""The command that compares files of a release with the list that was signed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import terminal
from counterfoil.cli.exits import ExitWith
from counterfoil.cli.jsonform import print_json
from counterfoil.cli.options import JsonOption
from counterfoil.cli.places import READS
from counterfoil.cli.terminal import shown
from counterfoil.signing.release import MAX_BYTES, ReleaseCheck, ReleaseList, compare_release, open_release
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError, GivenFileError
from counterfoil_core.base.inputs import open_input, read_input
from counterfoil_core.signing.keys import load_public_key
from counterfoil_core.values.outcome import Outcome


def verify_release(
    listing: Annotated[Path, READS, typer.Argument(metavar="LIST", help="The signed list, a .release.json file.")],
    files: Annotated[list[Path], READS, typer.Argument(metavar="FILE...", help="What was downloaded.")],
    key: Annotated[
        Path,
        READS,
        typer.Option(help="The public key of whoever signed the list, a .pub.pem file.", show_default=False),
    ],
    whole: Annotated[bool, typer.Option("--all", help="Every file of the list must be given.")] = False,
    json: JsonOption = False,
) -> None:
    """Anyone: compare downloaded files of a release with the list that its builder signed.

    Several builders sign the same list, each in a file of their own: run this once for each whose key you have. The
    exit code is 0 only if the signature holds and every file is as it was signed; 3 (REFUSED) if the signature does
    not hold, a file has other bytes, or is not listed; 4 if a file is not there. With --all a file of the list that
    was not given counts as not there.

    Example: counterfoil verify-release counterfoil.release.json counterfoil-0.9.0.tar.gz --key builder.pub.pem
    """
    release = open_release(read_input(listing, "a list of a release", DataError, most=MAX_BYTES), load_public_key(key))
    found, gone = [], []
    with cancel_on_interrupt() as cancel:
        for path in files:
            try:
                open_input(path, "a file of a release", GivenFileError).close()
            except GivenFileError:
                gone.append(path.name)
            else:
                found.append((path.name, Digest.of_file(path, cancel)))
    check = compare_release(release, found)
    gone += [name for name in check.absent if whole and name not in gone]
    if json:
        print_json(check, version=release.version, commit=release.commit, holds=check.holds, missing=gone)
    else:
        _show(release, check, gone)
    if not check.holds:
        raise ExitWith(Outcome.REFUSED.exit_code)
    if gone:
        raise ExitWith(Outcome.ERROR.exit_code)


def _show(release: ReleaseList, check: ReleaseCheck, gone: list[str]) -> None:
    out = terminal.console()
    out.print(f"Signed list of Counterfoil {shown(release.version)}, built from the commit {release.commit}")
    for word, names in (
        ("as signed", check.same),
        ("[bold red]CHANGED[/]", check.changed),
        ("[bold red]NOT LISTED[/]", check.unlisted),
        ("[bold red]MISSING[/]", gone),
    ):
        for name in names:
            out.print(f"  {word}  {shown(name)}", soft_wrap=True)
    if not check.holds:
        out.print("Do not install them: they are not what was signed. Download them again, and tell the builder.")
    elif gone:
        out.print("What is there is as it was signed; not everything is there.")
    else:
        out.print("The signature holds, and every file is as it was signed.")

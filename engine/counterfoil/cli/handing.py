"""The command that puts together what an auditor hands over."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterfoil.base.errors import DataError
from counterfoil.base.inputs import read_input
from counterfoil.cli import terminal
from counterfoil.cli.options import MAX_VERDICT_BYTES
from counterfoil.cli.places import READS, WRITES
from counterfoil.cli.terminal import shown
from counterfoil.signing.keys import load_public_key


def hand_over(
    verdict: Annotated[
        Path, READS, typer.Argument(help="The verdict, or the adjudication, a .json file.", show_default=False)
    ],
    key: Annotated[Path, READS, typer.Option(help="The auditor's public key, a .pub.pem file.", show_default=False)],
    out: Annotated[
        Path,
        WRITES,
        typer.Option("--out", "-o", help="The folder to make, or a .zip file; it must not exist.", show_default=False),
    ],
    capsule: Annotated[
        Path | None, READS, typer.Option(help="The dispute capsule of the same audit.", show_default=False)
    ] = None,
    report: Annotated[
        list[Path] | None,
        READS,
        typer.Option(help="A report that the window wrote, .pdf or .html. Can be given twice.", show_default=False),
    ] = None,
) -> None:
    """Auditor: put a verdict into a folder for others, with its report, its capsule, and how to check each.

    A README in it has the commands for a stranger: with OpenSSL alone, and with Counterfoil. The verdict must hold
    for the key, and the capsule must be about the step that the verdict disputes.

    Example: counterfoil hand-over verdict.json --key auditor.pub.pem --capsule dispute.cfoil --out to-the-court/
    """
    from counterfoil.audit.statement.verdict import check_capsule_file, verify_signed
    from counterfoil.exports.handover import HandOver, read_reports, write_hand_over

    public = load_public_key(key)
    envelope = read_input(verdict, "a verdict", DataError, most=MAX_VERDICT_BYTES)
    said = verify_signed(envelope, public)
    if capsule is not None:
        check_capsule_file(said, capsule)
    names = write_hand_over(out, HandOver(said, envelope, public.public, capsule, read_reports(tuple(report or ()))))
    console = terminal.console()
    console.print(f"Wrote {shown(str(out))}: {', '.join(names)}.", soft_wrap=True)
    console.print("Tell whoever gets it the id of your key by another way, for instance on the telephone:")
    console.print(said.key_id)

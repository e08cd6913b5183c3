"""The command that puts together what an auditor hands over."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from counterfoil.cli import terminal
from counterfoil.cli.options import SealForOption
from counterfoil.cli.places import READS, READS_VERDICT, WRITES
from counterfoil.cli.reader import VerdictReader
from counterfoil.cli.seal import judges_of, seal, show_handed
from counterfoil.cli.terminal import markup


def hand_over(
    verdict: Annotated[
        Path, READS_VERDICT, typer.Argument(help="The verdict, or the adjudication, a .json file.", show_default=False)
    ],
    given: VerdictReader,
    out: Annotated[
        Path,
        WRITES,
        typer.Option("--out", "-o", help="The folder to make, or a .zip file; it must not exist.", show_default=False),
    ],
    capsule: Annotated[
        Path | None,
        READS,
        typer.Option(help="The dispute capsule of the same audit, which may be sealed.", show_default=False),
    ] = None,
    seal_for: SealForOption = None,
    report: Annotated[
        list[Path] | None,
        READS,
        typer.Option(help="A report that the window wrote, .pdf or .html. Can be given twice.", show_default=False),
    ] = None,
) -> None:
    """Auditor: put a verdict into a folder for others, with its report, its capsule, and how to check each.

    A README in it has the commands for a stranger: with OpenSSL alone, and with Counterfoil. The verdict must hold
    for the key, and the capsule must be about the step that the verdict disputes. With --seal-for the capsule goes in
    sealed; of one that is sealed already, nobody but its judges can see what it is about.

    Example: counterfoil hand-over verdict.json --key auditor.pub.pem --capsule dispute.cfoil --out to-the-court/
    """
    from counterfoil.audit.capsulecontents import count_file_contents
    from counterfoil.exports.handover import SEALED, HandOver, read_reports, write_hand_over
    from counterfoil.sealed.agefile import is_sealed
    from counterfoil.sealed.unseal import private_folder
    from counterfoil_core.statement.verdict import check_capsule_file

    judged = given.read(verdict)
    said = judged.said
    if not judged.validity.self_signed:  # what is handed over says that by itself
        judged.check()
    judges = judges_of(seal_for, capsule)
    console = terminal.console()
    with ExitStack() as stack:
        sealed = capsule is not None and is_sealed(capsule)
        if sealed and judges:
            raise typer.BadParameter("--seal-for seals a capsule, and this one is sealed already.")
        if sealed:
            console.print("The capsule is sealed: that it is about the disputed step was not checked.")
        elif capsule is not None:
            check_capsule_file(said, capsule)
        if capsule is not None and judges:
            within = stack.enter_context(private_folder()) / SEALED
            seal(capsule, within, judges)
            capsule, sealed = within, True
        reports = read_reports(tuple(report or ()))
        names = write_hand_over(out, HandOver(said, judged.envelope, judged.key.public, capsule, reports, sealed))
    console.print(f"Wrote {markup(str(out))}: {', '.join(names)}.", soft_wrap=True)
    if capsule is not None and not sealed:
        show_handed(console, count_file_contents(capsule))
    console.print("Tell whoever gets it the id of your key by another way, for instance on the telephone:")
    console.print(said.key_id)

"""``counterfoil ledger``: what a folder of verdicts says of each trainer, and how much of the next run to replay."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import terminal
from counterfoil.cli.jsonform import print_json
from counterfoil.cli.options import JsonOption
from counterfoil.cli.places import READS, READS_FOLDER
from counterfoil.cli.reader import Reader
from counterfoil.cli.terminal import markup
from counterfoil_core.signing.keys import load_public_key

if TYPE_CHECKING:
    from rich.console import Console

    from counterfoil.audit.values.ledger import Ledger, LedgerRun, TrainerRecord

SOON = 200
"""Files from which on it takes long enough to say how far it is."""


def ledger(
    folder: Annotated[
        Path, READS_FOLDER, typer.Argument(metavar="DIR", help="A folder with signed verdicts.", show_default=False)
    ],
    reader: Reader,
    auditor_key: Annotated[
        list[Path] | None,
        READS,
        typer.Option(
            help="Public key of an auditor who counts, a .pub.pem file, beside the auditors that you trust. Can be "
            "given several times.",
            show_default=False,
        ),
    ] = None,
    segments: Annotated[int, typer.Option(help="Segments of the next run.")] = 100,
    bad_fraction: Annotated[
        float, typer.Option(help="The share of its segments that a bad run has at least, as for plan and audit.")
    ] = 0.01,
    risk: Annotated[
        float, typer.Option(help="How probable it may be at most that the next run is bad and passes.")
    ] = 0.05,
    floor: Annotated[
        float, typer.Option(help="The least share of segments to replay, whatever a trainer's past is.")
    ] = 0.05,
    clean_runs: Annotated[
        int, typer.Option(help="Clean runs after a dispute, each replayed whole, before less than all is proposed.")
    ] = 5,
    json: JsonOption = False,
) -> None:
    """Client, auditor: sort verdicts by the trainer's key, and propose how much of the next run to replay.

    Verdicts, adjudications, withdrawals and replies count if their signature holds; a verdict only if one of the given
    auditors signed it. What does not count is listed with the reason. The rates follow from a model that assumes
    things: docs/ledger.md says which. What nobody put into the folder is not known.

    Example: counterfoil ledger verdicts/ --auditor-key auditor.pub.pem --segments 200
    """
    from counterfoil.audit.ledger import read_ledger
    from counterfoil.audit.values.ledger import LedgerProgress, RatePolicy
    from counterfoil.trust.verdictfile import auditors_of
    from counterfoil_core.base.generators import finish, relay

    policy = RatePolicy(segments, bad_fraction, risk, floor, clean_runs)
    keys = auditors_of(reader.store, [load_public_key(path) for path in auditor_key or ()])
    if not keys:
        raise typer.BadParameter(
            "Give the key of an auditor with --auditor-key, or trust one: 'counterfoil trust add'."
        )
    with cancel_on_interrupt() as cancel, terminal.progress("Reading", terminal.console(stderr=True), "files") as bar:

        def tell(said: LedgerProgress) -> None:
            if said.total >= SOON:
                if said.done == 1:
                    bar.start(said.total)
                bar.update(said.done)

        found = finish(relay(read_ledger(folder, keys, policy, cancel, reader.store), tell))
    if json:
        print_json(found)
    else:
        _show(terminal.console(), found)


def _show(out: Console, found: Ledger) -> None:
    for trainer in found.trainers:
        _show_trainer(out, trainer)
    if not found.trainers:
        out.print("No verdict in this folder counts, so nothing is known of any trainer.")
    if found.not_counted:
        out.print(f"Not counted: {len(found.not_counted)}")
        for one in found.not_counted:
            out.print(f"  {markup(one.name)}: {markup(one.reason)}", soft_wrap=True)


def _show_trainer(out: Console, trainer: TrainerRecord) -> None:
    from rich.table import Table

    out.print(f"Trainer {trainer.key_id}", soft_wrap=True)
    table = Table(box=None, pad_edge=True)
    for name in ("run", "order", "outcome", "verdicts", "replayed", "disputed step", "last signed"):
        table.add_column(name)
    for run in trainer.runs:
        table.add_row(*_row(run))
    out.print(table)
    rate = trainer.rate
    out.print(f"  Replay {rate.chosen} of {rate.segments} segments of the next run.")
    for reason in rate.reasons:
        out.print(f"  {reason}")
    out.print("")


def _row(run: LedgerRun) -> tuple[str, ...]:
    most = max(run.verdicts, key=lambda one: one.steps_replayed)
    steps = [one.disputed_step for one in run.verdicts if one.disputed_step is not None]
    marks = ", ".join(f"{one.outcome}{' (answered)' if one.replied else ''}" for one in run.verdicts)
    return (
        run.run_root.short,
        markup(most.title),
        run.outcome.value,
        marks,
        f"{most.steps_replayed:,} of {most.steps_recorded:,} steps",
        "" if not steps else f"{min(steps):,}",
        run.last_signed,
    )

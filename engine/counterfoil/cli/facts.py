"""``counterfoil facts``: what a run shows of itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import terminal
from counterfoil.cli.jsonform import print_json
from counterfoil.cli.options import JsonOption
from counterfoil.cli.places import READS
from counterfoil.cli.reader import Reader
from counterfoil.cli.signedfile import SignedStatement
from counterfoil.cli.terminal import markup
from counterfoil_core.signing.keys import load_public_key

if TYPE_CHECKING:
    from rich.console import Console

    from counterfoil_core.values.runfacts import RunFacts

RunArgument = Annotated[Path, READS, typer.Argument(metavar="RUN", help="The run, a .cfoil file.", show_default=False)]
TrainerKeyOption = Annotated[
    Path | None,
    READS,
    typer.Option(
        help="The trainer's public key, which must have signed the run; unless given, that which the run names.",
        show_default=False,
    ),
]


def facts(
    run: RunArgument,
    reader: Reader,
    trainer_key: TrainerKeyOption = None,
    energy_kwh: Annotated[
        str,
        typer.Option(help="The energy that it took, in kilowatt-hours, which no run tells.", metavar="KWH"),
    ] = "",
    *,
    statement: SignedStatement,
    json: JsonOption = False,
) -> None:
    """Anyone: count what a run shows of itself, operations, rows, parameters, duration, and sign it if asked to.

    The run is checked as 'inspect' does it; nothing is replayed. Operations, rows and parameters follow from the order,
    which the trainer signed. Times and machine are the trainer's words, the energy is yours. docs/facts.md says how
    each is counted, and what none of them shows.

    Example: counterfoil facts run.cfoil --trainer-key trainer.pub.pem --key auditor.pem --out facts.json
    """
    written = ""
    with statement.open("facts", "the facts") as write:
        reader.check_run(run)
        found = count_facts(run, trainer_key, energy_kwh)
        if write is not None:
            from counterfoil_core.statement.factfields import FactsStatement, fields_of

            written = write(FactsStatement(fields_of(found)))
    if json:
        print_json(found, total_operations=found.total_operations)
    else:
        show_run_facts(terminal.console(), found)
    if written:
        terminal.console(stderr=json).print(written, soft_wrap=True)


def count_facts(run: Path, trainer_key: Path | None, energy_kwh: str) -> RunFacts:
    """Count the facts of a run, with an energy that somebody says."""
    from counterfoil.audit.runfacts import facts_of

    trainer = None if trainer_key is None else load_public_key(trainer_key)
    with (
        cancel_on_interrupt() as cancel,
        terminal.progress("Checking", terminal.console(stderr=True)) as bar,
    ):
        return facts_of(run, trainer_key=trainer, energy_kwh=energy_kwh, cancel=cancel, progress=terminal.shows(bar))


def show_run_facts(out: Console, found: RunFacts) -> None:
    """Show facts, as tables."""
    from rich.table import Table

    from counterfoil.audit.values.figures import score_lines
    from counterfoil.cli.reports import show_facts

    show_facts(
        out,
        {
            "order": f"{found.order.hex}, {markup(found.title)}",
            "run root": found.run_root.hex,
            "trainer": f"key {found.trainer_key}",
            "client": f"key {found.client_key}" if found.client_key else "the order is not signed",
            "steps": f"{found.steps:,} of {found.steps_ordered:,} ordered, {found.batch_size:,} rows each",
            "parameters": f"{found.parameters:,}",
            "optimizer": markup(found.optimizer),
            "precision": found.precision,
            "operations": f"{found.total_operations:,} ({found.total_operations:.3g})",
            **({} if found.score is None else {name.lower(): markup(said) for name, said in score_lines(found.score)}),
        },
    )
    table = Table(title="Operations, as the order's programs have them", title_justify="left", box=None)
    for name in ("part of a step", "kind", "in"):
        table.add_column(name)
    table.add_column("operations in all steps", justify="right")
    for each in found.operations:
        table.add_row(each.part, each.kind, each.precision, f"{each.operations:,}")
    out.print(table)
    table = Table(title="Data that the steps read", title_justify="left", box=None)
    for name in ("array", "shape"):
        table.add_column(name)
    filled = any(use.filling_rows for use in found.data)
    for name in ("rows read", "different ones", "epochs", "elements read", *(("left out",) if filled else ())):
        table.add_column(name, justify="right")
    for use in found.data:
        table.add_row(
            markup(use.name), f"{use.dtype} {list(use.shape)}", f"{use.rows_read:,}", f"{use.distinct_rows:,}",
            f"{use.epochs:.3f}", f"{use.elements_read:,}", *((f"{use.filling_rows:,}",) if filled else ()),
        )  # fmt: skip
    out.print(table)
    if filled:
        out.print("Left out: rows that fill a shorter batch, and that no operator reads.")
    if found.tokens:
        out.print(f"Tokens that embeddings look up: {found.tokens:,} ({found.tokens:.3g})")
    out.print("As the trainer says:")
    show_facts(
        out,
        {
            "accepted": found.started or "not said",
            "signed": found.signed,
            "duration": "not said" if found.seconds is None else terminal.duration(found.seconds),
            "machine": markup(", ".join(f"{name} {text}" for name, text in found.machine)),
        },
    )
    if found.energy_kwh:
        out.print("As whoever asked for these facts says:")
        show_facts(out, {"energy": f"{found.energy_kwh} kWh"})

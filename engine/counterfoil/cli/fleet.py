"""``counterfoil plan --fleet``: what runs past the machines at hand take, as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from counterfoil.cli.terminal import markup

if TYPE_CHECKING:
    from rich.console import Console

    from counterfoil.audit.values.fleet import Fleet, FleetRequest, FleetRow
    from counterfoil.base.cards import Gpu

DEFAULT_GPU = "H100"
_FLEET = "With --fleet: "

_BILLION = 1e9


def gpu_named(name: str) -> Gpu:
    """Return a GPU by its name, however it is spelled; raises typer.BadParameter where no data sheet is held."""
    from counterfoil.base.cards import GPUS

    wanted = name.casefold().replace(" ", "")
    found = next((gpu for key, gpu in GPUS.items() if key.casefold().replace(" ", "") == wanted), None)
    if found is None:
        raise typer.BadParameter(f"--gpu knows the data sheets of {', '.join(GPUS)}. Measure another one with a RUN.")
    return found


def sizes_of(text: str) -> tuple[float, ...]:
    """Read what --parameters was given; raises typer.BadParameter.

    Args:
        text: Billions, with commas between them.
    """
    try:
        return tuple(_BILLION * float(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter("--parameters takes billions of parameters, such as 1,8,70.") from None


@dataclass(frozen=True, kw_only=True)
class FleetOptions:
    """What a plan of runs of billions of parameters is asked."""

    fleet: Annotated[
        bool,
        typer.Option(
            "--fleet",
            help="Say what recording, storing and auditing a run of billions of parameters takes, by a step of RUN "
            "that is measured here, or without RUN by a GPU's data sheet. A model: docs/scale.md names what it "
            "assumes.",
        ),
    ] = False
    parameters: Annotated[
        str | None,
        typer.Option(
            help=_FLEET + "billions of parameters, such as 1,8,70.", metavar="LIST", show_default="1,3,8,30,70"
        ),
    ] = None
    tokens: Annotated[float | None, typer.Option(help=_FLEET + "tokens of the run.", show_default="1e12")] = None
    batch_tokens: Annotated[int | None, typer.Option(help=_FLEET + "tokens of a step.", show_default="4194304")] = None
    devices: Annotated[int | None, typer.Option(help=_FLEET + "devices that record it.", show_default="64")] = None
    checkpoint_every: Annotated[
        int | None,
        typer.Option(
            "--checkpoint-every", help=_FLEET + "steps from one stored state to the next.", show_default="100"
        ),
    ] = None

    def request(self, confidence: float | None, bad_fraction: float) -> FleetRequest:
        """Return what was asked on the command line; what was not said is the default's.

        Raises:
            DataError: A number does not fit.
        """
        from counterfoil.audit.values.fleet import FleetRequest

        said = {
            "parameters": None if self.parameters is None else sizes_of(self.parameters),
            "tokens": self.tokens,
            "batch_tokens": self.batch_tokens,
            "devices": self.devices,
            "checkpoint_every": self.checkpoint_every,
            "confidence": confidence,
            "bad_fraction": bad_fraction,
        }
        return FleetRequest(**{name: value for name, value in said.items() if value is not None})  # type: ignore[arg-type]


def amount(count: float) -> str:
    """Write a number of bytes in powers of 1000 with three digits: 12.3 TB, 0 B."""
    for unit in ("B", "KB", "MB", "GB", "TB", "PB"):
        if count < 999.5:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} EB"


def show_fleet(out: Console, fleet: Fleet) -> None:
    """Show what recording, storing and auditing takes, what that rests on and what stands in the way."""
    asked = fleet.request
    out.print(
        f"{asked.tokens:.3g} tokens in {fleet.steps:,} steps of {asked.batch_tokens:,}, {fleet.segments:,} segments; "
        f"{asked.devices:,} x {markup(fleet.device)}; the data {amount(fleet.data_bytes)}.",
        soft_wrap=True,
    )
    _table(
        out,
        "Recording",
        ("TFLOP/s each", "a step", "days", "device-hours"),
        fleet.rows,
        lambda row: (
            f"{row.rate / 1e12:.3g}",
            f"{row.step_seconds:,.1f} s{' hashing' if row.hashing else ''}",
            f"{row.record_hours / 24:,.0f}",
            f"{row.record_device_hours:,.0f}",
        ),
    )
    audited = [row for row in fleet.rows if row.audited]
    _table(
        out,
        "Storing",
        ("states", "logs", "records", "leaves"),
        audited,
        lambda row: tuple(map(amount, (row.checkpoint_bytes, row.log_bytes, row.record_bytes, row.leaf_bytes))),
    )
    first = audited[0]
    _table(
        out,
        f"Auditing: the whole run, or {first.sample_segments:,} of {fleet.segments:,} segments, which catch one with "
        f"{fleet.bad:,} bad ones with probability {1 - fleet.passing:.4g}",
        ("whole, device-hours", "sample, device-hours", "to fetch", "proofs"),
        audited,
        lambda row: (
            f"{row.audit_device_hours:,.0f}",
            f"{row.sample_device_hours:,.0f}",
            amount(row.sample_bytes),
            amount(row.proof_bytes),
        ),
    )
    for note in fleet.notes:
        out.print(f"[bold yellow]NOTE[/]  {markup(note)}", soft_wrap=True)
    out.print("This is a model. It assumes:")
    for assumption in fleet.assumptions:
        out.print(f"- {markup(assumption)}", soft_wrap=True)


def _table(
    out: Console,
    title: str,
    heads: Sequence[str],
    rows: Sequence[FleetRow],
    cells: Callable[[FleetRow], Sequence[str]],
) -> None:
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("parameters", justify="right")
    table.add_column("profile")
    for head in heads:
        table.add_column(head, justify="right")
    before = None
    for row in rows:
        size = f"{row.parameters / _BILLION:g} B"
        table.add_row("" if size == before else size, row.profile, *cells(row))
        before = size
    out.print(table)

"""``counterfoil plan --inspections``: how many chips inspectors look at to catch a run of a given size, as tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from counterfoil.cli.places import WRITES
from counterfoil.cli.terminal import markup

if TYPE_CHECKING:
    from rich.console import Console

    from counterfoil.audit.values.inspections import InspectionCell, InspectionRequest, Inspections

_INSPECTIONS = "With --inspections: "
_PAPER = "those of the paper's table 1"


def numbers_of(text: str, option: str) -> tuple[float, ...]:
    """Read numbers with commas between them; raises typer.BadParameter.

    Args:
        text: What the option was given.
        option: Its name.
    """
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{option} takes numbers, such as 1e24,1e25.") from None


@dataclass(frozen=True, kw_only=True)
class InspectionOptions:
    """What a plan of inspections is asked."""

    inspections: Annotated[
        bool,
        typer.Option(
            "--inspections",
            help="Say how many chips inspectors look at in a year to catch a training run of a given size, by Shavit's "
            "framework. A model: docs/inspections.md names what it assumes.",
        ),
    ] = False
    operations: Annotated[
        str | None,
        typer.Option(
            help=_INSPECTIONS + "operations of the runs, such as 1e24,1e25.", metavar="LIST", show_default=_PAPER
        ),
    ] = None
    chips: Annotated[
        str | None,
        typer.Option(
            help=_INSPECTIONS + "chips among which the run's are looked for.",
            metavar="LIST",
            show_default="1e3,1e5,1e7",
        ),
    ] = None
    chip_rate: Annotated[
        float | None,
        typer.Option(
            "--chip-rate", help=_INSPECTIONS + "operations a second of a chip, in place of --gpu.", show_default="1e15"
        ),
    ] = None
    run_days: Annotated[
        float | None, typer.Option(help=_INSPECTIONS + "days that the run lasts.", show_default="365")
    ] = None
    period: Annotated[
        float | None,
        typer.Option("--period", help=_INSPECTIONS + "days from one round to the next.", show_default="30"),
    ] = None
    snapshots: Annotated[
        float | None,
        typer.Option(help=_INSPECTIONS + "fingerprints that a chip logs in a day.", show_default="0.1"),
    ] = None
    samples: Annotated[
        int | None,
        typer.Option(
            help=_INSPECTIONS + "say also how surely so many chips a year catch each run.", show_default=False
        ),
    ] = None
    plot: Annotated[
        Path | None,
        WRITES,
        typer.Option(
            "--plot", help=_INSPECTIONS + "draw samples, and what stretching a run gains, as SVG.", show_default=False
        ),
    ] = None

    def request(self, rate: float | None, confidence: float | None) -> InspectionRequest:
        """Return what was asked on the command line; what was not said is the paper's.

        Args:
            rate: Operations a second of a chip, where a GPU was named.
            confidence: Probability that the run is caught.

        Raises:
            DataError: A number does not fit.
        """
        from counterfoil.audit.values.inspections import InspectionRequest

        owned = None if self.chips is None else numbers_of(self.chips, "--chips")
        if owned is not None and not all(count.is_integer() for count in owned):
            raise typer.BadParameter("--chips takes whole numbers, such as 1e3,1e5.")
        said = {
            "operations": None if self.operations is None else numbers_of(self.operations, "--operations"),
            "chips": None if owned is None else tuple(map(int, owned)),
            "rate": self.chip_rate if rate is None else rate,
            "run_days": self.run_days,
            "period_days": self.period,
            "snapshots": self.snapshots,
            "confidence": confidence,
            "samples": self.samples,
        }
        return InspectionRequest(**{name: value for name, value in said.items() if value is not None})  # type: ignore[arg-type]


def show_inspections(out: Console, plan: Inspections) -> None:
    """Show how many chips are looked at, how surely they show a run, what stretching it gains, and what it rests on."""
    from counterfoil_core.values.sampling import probability_text

    asked = plan.request
    out.print(
        f"Runs of at most {asked.run_days:g} days, caught with probability {asked.confidence:g} within "
        f"{asked.period_days:g} days of their end; a chip does {asked.rate:.3g} operations a second and logs "
        f"{asked.snapshots:g} fingerprints a day.",
        soft_wrap=True,
    )
    _table(
        out,
        plan,
        "Chips to look at in a year",
        lambda cell: "-" if cell.a_year is None else f"{cell.a_year:,}",
    )
    if asked.samples is not None:
        _table(
            out,
            plan,
            f"Probability that {asked.samples:,} a year catch the run",
            lambda cell: "-" if cell.caught is None else probability_text(cell.caught),
        )
    table = Table(
        title="p_d(k): caught, if it takes k times as long",
        title_justify="left",
        box=None,
    )
    table.add_column("share b of the chips", justify="right")
    for point in plan.curves[0].points:
        table.add_column(f"k = {point.factor:g}", justify="right")
    for curve in plan.curves:
        table.add_row(f"{curve.share:g}", *(f"{point.caught:.4f}" for point in curve.points))
    out.print(table)
    out.print("This is a model (Shavit 2023, arXiv 2303.11341). It assumes:")
    for assumption in plan.assumptions:
        out.print(f"- {markup(assumption)}", soft_wrap=True)


def _table(out: Console, plan: Inspections, title: str, said: Callable[[InspectionCell], str]) -> None:
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("run")
    table.add_column("operations", justify="right")
    table.add_column("chip-days", justify="right")
    table.add_column("least chips", justify="right")
    for chips in plan.request.chips:
        table.add_column(f"of {chips:,}", justify="right")
    for row in plan.rows:
        table.add_row(
            row.name,
            f"{row.operations:.3g}",
            f"{row.chip_days:,.0f}",
            f"{row.least_chips:,}",
            *(said(cell) for cell in row.cells),
        )
    out.print(table)

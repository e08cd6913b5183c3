"""The command that says where two runs first differ."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import monitor, terminal
from counterfoil.cli.exits import ExitWith
from counterfoil.cli.options import DataOption, Device, JsonOption
from counterfoil.cli.places import READS
from counterfoil.cli.terminal import markup

if TYPE_CHECKING:
    from counterfoil.audit.values.difference import Difference

SHOWN = 12


def diff(
    first: Annotated[Path, READS, typer.Argument(help="A run, a .cfoil file.", show_default=False)],
    second: Annotated[Path, READS, typer.Argument(help="Another run.", show_default=False)],
    compute: Device,
    replay: Annotated[
        bool,
        typer.Option(
            "--replay", help="Replay the step in which they part, with each run's log, to compare single elements."
        ),
    ] = False,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Anyone: say where two runs first differ: order, step, operator, element. Nobody is judged; no key is needed.

    Exit code 0 when every step is equal, 1 when something differs, 3 when a run is damaged.

    Example: counterfoil diff cpu.cfoil gpu.cfoil
    """
    with cancel_on_interrupt() as cancel, terminal.progress("Comparing", terminal.console(stderr=True), "%") as bar:
        with cancel.at_once():
            from counterfoil.audit.difference import compare_runs

        if replay:
            monitor.get_kernels()

        def show(what: str, done: int, total: int) -> None:
            bar.start(100)
            bar.update(100 * done / max(1, total))

        found = compare_runs(
            first,
            second,
            replay=replay,
            data=data,
            device=compute.device,
            threads=compute.threads,
            cancel=cancel,
            progress=show,
        )
    from counterfoil.cli import jsonform

    if json:
        jsonform.print_json(found)
    else:
        _show(terminal.console(), found)
    raise ExitWith(found.exit_code)


def _show(out: Console, found: Difference) -> None:
    style = "bold green" if found.exit_code == 0 else "bold yellow"
    out.print(
        f"[{style}]{'EQUAL' if found.exit_code == 0 else 'DIFFERENT'}[/]  {markup(found.sentence)}", soft_wrap=True
    )
    for title, rows in (("order", found.orders), ("machine", found.machines)):
        for row in rows:
            out.print(f"  {title}  {markup(row.what)}: {markup(row.first)} | {markup(row.second)}", soft_wrap=True)
    if found.log_step is not None:
        out.print(f"  The rounding logs differ from step {found.log_step} on; that alone changes no result.")
    if found.losses is not None:
        out.print(f"  loss     {found.losses[0]!r} | {found.losses[1]!r}")
    if found.operator is not None:
        operator = found.operator
        out.print(
            f"  operator {operator.number} of {operator.total}  {markup(operator.where)}, output "
            f"{list(operator.shape)}; {operator.differing_operators} operators differ in this step",
            soft_wrap=True,
        )
    if found.elements is not None:
        elements = found.elements
        again = ", ".join("yes" if each else "no" for each in elements.reproduced)
        out.print(f"  replayed here: the recorded output came out again: {again}")
        if elements.differing:
            out.print(
                f"  {elements.differing:,} of {elements.elements:,} elements differ, by up to {elements.largest:.3g}; "
                f"the first at {list(elements.index)}: {elements.first!r} | {elements.second!r}",
                soft_wrap=True,
            )
    if found.state is not None:
        state = found.state
        out.print(f"  state after step {state.step}: {len(state.tensors)} tensors differ, {state.equal} are equal")
        for tensor in state.tensors[:SHOWN]:
            place = f" at {list(tensor.index)}" if tensor.index else ""
            out.print(
                f"    {markup(tensor.name)}: {tensor.differing:,} elements, by up to {tensor.max_abs:.3g} "
                f"({tensor.max_ulps:,} ulp){place}: {tensor.trainer!r} | {tensor.replay!r}",
                soft_wrap=True,
            )
        for name in state.unlike[:SHOWN]:
            out.print(f"    {markup(name)}: only in one of them, or of another dtype or shape", soft_wrap=True)

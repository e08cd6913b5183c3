"""Commands that write what a run or a verdict holds in formats that others read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from counterfoil import terminal
from counterfoil.audit.values.delivery import DeliveryProgress
from counterfoil.cli.interrupt import cancel_on_interrupt
from counterfoil.cli.options import AverageOption, ForceOption, RunArgument
from counterfoil.terminal import shown

_WEIGHTS = "weights"


class _Exports(typer.core.TyperGroup):
    """``export RUN --safetensors DIR`` is short for ``export weights RUN --safetensors DIR``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = [_WEIGHTS, *args]
        return super().parse_args(ctx, args)


export_app = typer.Typer(
    cls=_Exports,
    help="Write a run's weights and curves, or a verdict, in formats that others read.",
    no_args_is_help=True,
)


@export_app.command(_WEIGHTS)
def weights(
    run: RunArgument,
    safetensors: Annotated[
        Path, typer.Option("--safetensors", help="The folder for model.safetensors.", show_default=False)
    ],
    step: Annotated[
        int | None, typer.Option(min=1, help="A step whose state is stored.", show_default="the last")
    ] = None,
    average: AverageOption = False,
    force: ForceOption = False,
) -> None:
    """Write the weights of a run as a safetensors file, with the names and dtypes of the client's module.

    Example: counterfoil export run.cfoil --safetensors model/
    """
    with cancel_on_interrupt() as cancel, terminal.progress("Weights", terminal.console(stderr=True), "tensors") as bar:
        with cancel.at_once():
            from counterfoil.delivery.export import export_weights

        for event in export_weights(run, safetensors, step=step, average=average, replace=force, cancel=cancel):
            match event:
                case DeliveryProgress():
                    bar.start(event.total)
                    bar.update(event.done)
                case written:
                    target = written
    terminal.console().print(f"Wrote {shown(str(target))}.", soft_wrap=True)

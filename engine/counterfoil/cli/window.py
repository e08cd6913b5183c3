"""Commands that show the window."""

from __future__ import annotations

import importlib
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from counterfoil.cli.exits import ExitWith
from counterfoil.cli.options import ClientOrderOption
from counterfoil.cli.places import READS, WRITES_INTO
from counterfoil_core.base.errors import CounterfoilError


class Tab(Enum):
    """The views of a run."""

    FINDING = "finding"
    STEPS = "steps"
    PLOTS = "plots"
    MERKLE = "merkle"
    CHECKS = "checks"
    RUN = "run"
    LOG = "log"


def gui(
    files: Annotated[
        list[Path] | None,
        READS,
        typer.Argument(help="A bundle to open, or several to replay one after the other, or a verdict to read."),
    ] = None,
    order: ClientOrderOption = None,
    step: Annotated[int | None, typer.Option(min=1, help="The step to show.", show_default=False)] = None,
    tab: Annotated[Tab | None, typer.Option(help="The view to show.", show_default=False)] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start without your stored settings.")] = False,
    safe_mode: Annotated[
        bool,
        typer.Option(
            "--safe-mode",
            help="Start without your settings, layout, cases and results, and without drivers of graphics cards.",
        ),
    ] = False,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="ssh://[USER@]HOST[:PORT]",
            help="Work on another machine, which has the files; the window and your keys stay here.",
            show_default="this machine",
        ),
    ] = None,
    engine_process: Annotated[bool, typer.Option("--engine-process", hidden=True)] = False,
) -> None:
    """Auditor: open the window.

    Example: counterfoil gui run.cfoil --order job.cfoil --step 37 --tab finding
    """
    if engine_process:  # for a window on another machine, which speaks through the pipes of ssh
        _window_module("engine.served").main()
        return
    window = _window_module("main")
    place = window.Shown(step, None if tab is None else tab.value)
    raise ExitWith(window.run(files or [], order, place, fresh=fresh, safe=safe_mode, engine=engine))


def demo(
    folder: Annotated[Path, WRITES_INTO, typer.Option(help="Where the demo's files go.")] = Path("counterfoil-demo"),
    steps: Annotated[int, typer.Option(min=2, help="Training steps; fewer take less time and learn less.")] = 60,
) -> None:
    """Newcomer: see the whole job on handwritten digits, in about two minutes.

    Orders a training, records an honest and a tampered run of it, replays both in the window, and writes the signed
    verdicts. Without a display the window is drawn off screen and saved as pictures.

    Example: counterfoil demo
    """
    raise ExitWith(_window_module("demo").run(folder, steps=steps))


def _window_module(name: str) -> Any:
    """Import a module of the window's package, which need not be installed."""
    try:
        return importlib.import_module(f"counterfoil_app.{name}")
    except ModuleNotFoundError as error:
        raise CounterfoilError(
            f"The window cannot be shown, because {error.name} is not installed.",
            remedy="Install it with: pip install 'counterfoil[gui]'",
        ) from error

"""The process that carries out one command for a program, with no thread beside it: it closes the command's own box."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout

from counterfoil.cli.commandevents import CommandProgress, report_to
from counterfoil.cli.commandforms import command_form
from counterfoil.cli.commands import own_process
from counterfoil.cli.exits import ExitWith, exit_code
from counterfoil.cli.job import COMMANDS, CommandEnded, CommandEvent
from counterfoil.cli.orderprogram import failure_of
from counterfoil.talk.line import Line
from counterfoil.talk.table import COMMAND

SECONDS_APART = 0.05
"""Between two messages on how far a stage is."""
MOST_SAID = 200_000
"""Characters of what a command printed."""


def main() -> int:
    """Carry out what is asked for, and end: what the process is."""
    return Line(COMMAND, COMMANDS).serve_one(_carry_out)


def _carry_out(arguments: Sequence[str], tell: Callable[[CommandEvent], None]) -> None:
    from typer.main import get_command

    from counterfoil.cli.app import app

    own_process()
    said = io.StringIO()
    code = 0
    try:
        with redirect_stdout(said), redirect_stderr(said), report_to(_now_and_then(tell)):
            get_command(app).main(list(arguments), prog_name="counterfoil", standalone_mode=False)
    except ExitWith as ended:
        code = exit_code(ended)
    except BaseException as error:
        raise failure_of(error, command_form(tuple(arguments)), arguments) from error
    tell(CommandEnded(code, said.getvalue()[:MOST_SAID]))


def _now_and_then(tell: Callable[[CommandEvent], None]) -> Callable[[object], None]:
    stage, last = "", 0.0

    def throttled(event: object) -> None:
        nonlocal stage, last
        now = time.monotonic()
        if isinstance(event, CommandProgress) and (event.stage != stage or now - last > SECONDS_APART):
            stage, last = event.stage, now
            tell(event)

    return throttled

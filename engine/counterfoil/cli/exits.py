"""How a command ends: its exit code, and the sentence for an error."""

from __future__ import annotations

import logging

from counterfoil_core.base.errors import CancelledError, CounterfoilError, ObstacleError, RefusedError
from counterfoil_core.values.outcome import Outcome

_LOG = logging.getLogger("counterfoil")


SELF_SIGNED = 5
"""Exit code of a verdict that the trainer of its run signed, whatever it says: it is no audit."""


class ExitWith(SystemExit):
    """Ends a command with an exit code of ours; typer lets a SystemExit pass."""


def exit_code(ended: SystemExit) -> int:
    """Return the exit code that an end of the process carries."""
    return ended.code if isinstance(ended.code, int) else 0


def outcome_of(error: CounterfoilError) -> Outcome:
    """Return the outcome that an error stands for."""
    if isinstance(error, RefusedError):
        return Outcome.REFUSED
    return Outcome.INCONCLUSIVE if isinstance(error, (CancelledError, ObstacleError)) else Outcome.ERROR


def show_error(error: CounterfoilError) -> int:
    """Say on standard error what happened and what to do next, and return the exit code of it."""
    # What draws on a terminal takes longer to load than to say how a command is called.
    from counterfoil.cli import terminal
    from counterfoil.cli.terminal import markup

    outcome = outcome_of(error)
    out = terminal.console(stderr=True)
    out.print(f"[bold red]{outcome.value}[/]  {markup(error.sentence)}", soft_wrap=True)
    if error.remedy:
        out.print(markup(error.remedy), soft_wrap=True)
    _LOG.debug("%s: %s", type(error).__name__, error.detail, exc_info=error)
    return outcome.exit_code

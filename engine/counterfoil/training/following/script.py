"""The order of a script, by whichever way there is: a library's loop is taken over, and any other one followed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from counterfoil.base.errors import ProgramError
from counterfoil.training.following.follower import follow
from counterfoil.training.scripts.handing import ScriptOrder, Wanted
from counterfoil.training.scripts.run import run_script


def order_of_script(script: str | os.PathLike[str], arguments: Sequence[str], wanted: Wanted) -> ScriptOrder:
    """Run a script, and return the order of what it would train. Nothing is trained.

    Where a library's loop is taken over, and the step that it names cannot be captured, the script runs once more and
    that loop is followed like any other.

    Args:
        script: The script.
        arguments: What it finds behind its name in ``sys.argv``.
        wanted: What is wanted of the order besides.

    Raises:
        DataError: As :func:`counterfoil.training.scripts.run.run_script`.
        CounterfoilError: The training cannot be ordered; of both ways, what the second says.
    """
    try:
        return _ordered(script, arguments, wanted)
    except ProgramError as error:
        if not wanted.taken_over:
            raise
        note = f"The library's loop was followed, since its step cannot be captured by itself: {error.sentence}"
    made = _ordered(script, arguments, replace(wanted, takeovers=False))
    return replace(made, notes=(note, *made.notes))


def _ordered(script: str | os.PathLike[str], arguments: Sequence[str], wanted: Wanted) -> ScriptOrder:
    title = Path(script).stem
    return run_script(script, arguments, wanted, around=lambda run: follow(run, wanted, title))

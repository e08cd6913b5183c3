"""A bar for each stage in which an order, or an answer, is prepared."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeVar

from counterfoil.cli import terminal
from counterfoil_core.base.errors import CancelledError
from counterfoil_core.base.generators import finish, relay

if TYPE_CHECKING:
    from counterfoil.training.stages import Preparing

_Result = TypeVar("_Result")


def show_stages(work: Generator[Preparing, None, _Result], nothing: str = "no order was written") -> _Result:
    """Run the work to its end with a bar for each stage, and return what it returns.

    Args:
        work: The work.
        nothing: What did not come of it where it is stopped.

    Raises:
        CancelledError: The work was stopped.
    """
    console = terminal.console()
    stage: str | None = None
    bar: terminal.StepProgress
    with ExitStack() as bars:

        def show(event: Preparing) -> None:
            nonlocal stage, bar
            if event.stage != stage:
                bars.close()
                stage, bar = event.stage, bars.enter_context(terminal.progress(event.stage, console, unit=event.unit))
                bar.start(event.total)
            bar.update(event.done)

        try:
            return finish(relay(work, show))
        except CancelledError as error:
            raise CancelledError(f"Stopped; {nothing}.") from error

"""How ``counterfoil order`` runs a client's own code: a training script as it is, or what returns a job."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer.core
from rich.console import Console
from rich.prompt import Prompt

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.base.precision import PROFILES, AnyPrecision, profile_name
from counterfoil.cli import terminal
from counterfoil.cli.stages import show_stages
from counterfoil.cli.terminal import shown

if TYPE_CHECKING:
    from counterfoil.program.recompute import Segments
    from counterfoil.training.custom import ClientJob
    from counterfoil.training.order import OrderDraft
    from counterfoil.training.preparing import Preparing
    from counterfoil.training.secondlook import SecondLook


class OrderCommands(typer.core.TyperGroup):
    """Leaves what stands behind ``--`` to the script of ``--script``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options of ``order``; a script's arguments become the context's object."""
        own = args[: args.index("--")] if "--" in args else args
        if any(option.partition("=")[0] == "--script" for option in own):
            ctx.obj = args[len(own) + 1 :]
            args = own
        return list(super().parse_args(ctx, args))


def drafted(job: ClientJob, precision: AnyPrecision | None, segments: Segments | None) -> OrderDraft:
    """Draft the order of a client's own job, with a bar for each stage."""
    with cancel_on_interrupt() as cancel:
        return show_stages(job.drafting(precision, segments, cancel))


def order_script(
    script: Path, arguments: Sequence[str], steps: int | None, precision: AnyPrecision | None, segments: Segments | None
) -> OrderDraft:
    """Run a training script, draft the order of what it would train, and say what was taken over.

    Args:
        script: The script.
        arguments: Its arguments.
        steps: Most steps that are ordered; None for as many as it would train.
        precision: The precision profile; None leaves it to the script.
        segments: Segments of the forward pass whose activations are recomputed.
    """
    from counterfoil.training.following.script import order_of_script
    from counterfoil.training.scripts.handing import Wanted

    console = terminal.console()
    with _following(console) as (tell, done):

        def draft(job: ClientJob, profile: AnyPrecision | None) -> OrderDraft:
            done()
            return drafted(job, profile, segments)

        made = order_of_script(script, arguments, Wanted(precision, steps, _choose_profile, draft, tell))
    for note in made.notes:
        console.print(shown(note), soft_wrap=True)
    return made.draft


@contextmanager
def _following(console: Console) -> Iterator[tuple[Callable[[Preparing], None], Callable[[], None]]]:
    """Show how many steps of a script were followed, from the first one on; yields what tells so, and what ends it."""
    with ExitStack() as bars:
        bar: list[terminal.StepProgress] = []

        def tell(event: Preparing) -> None:
            if not bar:
                bar.append(bars.enter_context(terminal.progress(event.stage, console, unit=event.unit)))
                if event.total:
                    bar[0].start(event.total)
            bar[0].update(event.done)

        yield tell, bars.close


def look_again(
    draft: OrderDraft,
    source: str | None,
    script: Path | None,
    arguments: Sequence[str] | None,
    steps: int | None,
    precision: AnyPrecision | None,
    segments: Segments | None,
    shares: int | None,
) -> SecondLook | None:
    """Begin a second look at the code that was ordered, in a process of its own; None where there can be none.

    Args:
        draft: The order.
        source: The function that it is of, or None.
        script: The script that it is of, or None.
        arguments: The script's arguments.
        steps: Most steps of the script.
        precision: The precision profile that was named.
        segments: Segments of the forward pass whose activations are recomputed.
        shares: Into how many shares steps are divided; None where the function says.
    """
    from counterfoil.training.secondlook import Source, begin

    # A script may have asked for a profile; what was answered counts.
    profile = profile_name(draft.manifest.precision if script is not None else precision)
    named = "" if script is None else str(script)
    return begin(Source(source or "", named, tuple(arguments or ()), steps, profile, segments, shares))


def _choose_profile(question: str, profiles: Sequence[str]) -> AnyPrecision:
    """Ask on a terminal which of some precision profiles is meant; raises DataError where nobody is asked."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        from counterfoil.training.scripts.handing import refuse_to_choose

        return refuse_to_choose(question, profiles)
    console = terminal.console()
    console.print(shown(question), soft_wrap=True)
    return PROFILES[Prompt.ask("Precision profile", console=console, choices=list(profiles), default=profiles[0])]

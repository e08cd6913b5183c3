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

from counterfoil.base.descendants import ended_afterwards
from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import terminal
from counterfoil.cli.stages import show_stages
from counterfoil.cli.terminal import markup
from counterfoil_core.base.precision import PROFILES, AnyPrecision, profile_name

if TYPE_CHECKING:
    from counterfoil.program.recompute import Segments
    from counterfoil.signer.client import SignerProcess
    from counterfoil.signing.comparedsteps import ComparedLine
    from counterfoil.training.custom import ClientJob
    from counterfoil.training.order import OrderDraft
    from counterfoil.training.scripts.handover import Compared, ScriptOrder, Wanted
    from counterfoil.training.secondlook import SecondLook
    from counterfoil.training.stages import Preparing
    from counterfoil_core.bundle.schema import OrderManifest


class OrderCommands(typer.core.TyperGroup):
    """Leaves what stands behind ``--`` to the script of ``--script``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options of ``order``; a script's arguments become the context's object."""
        own = args[: args.index("--")] if "--" in args else args
        if any(option.partition("=")[0] == "--script" for option in own):
            ctx.obj = args[len(own) + 1 :]
            args = own
        return list(super().parse_args(ctx, args))


def draft_order(job: ClientJob, precision: AnyPrecision | None, segments: Segments | None) -> OrderDraft:
    """Draft the order of a client's own job, with a bar for each stage."""
    with cancel_on_interrupt() as cancel:
        return show_stages(job.drafting(precision, segments, cancel))


def order_script(script: Path, arguments: Sequence[str], wanted: Wanted, segments: Segments | None) -> ScriptOrder:
    """Run a training script, draft the order of what it trains, and say what was taken over.

    Args:
        script: The script.
        arguments: Its arguments.
        wanted: What is wanted of the order besides.
        segments: Segments of the forward pass whose activations are recomputed.
    """
    from counterfoil.training.following.script import order_of_script

    console = terminal.console()
    with script_stages(console) as (tell, done):

        def draft(job: ClientJob, profile: AnyPrecision | None) -> OrderDraft:
            done()
            return draft_order(job, profile, segments)

        wanted.draft, wanted.tell, wanted.choose = draft, tell, _choose_profile
        with ended_afterwards():
            made = order_of_script(script, arguments, wanted)
    for note in made.notes:
        console.print(markup(note), soft_wrap=True)
    return made


@contextmanager
def script_stages(console: Console) -> Iterator[tuple[Callable[[Preparing], None], Callable[[], None]]]:
    """Show how far a script is, stage by stage, each from its first step; yields what tells so and what ends it."""
    with ExitStack() as bars:
        bar: list[terminal.StepProgress] = []
        stage = [""]

        def tell(event: Preparing) -> None:
            if stage[0] != event.stage:
                bars.close()
                bar[:] = [bars.enter_context(terminal.progress(event.stage, console, unit=event.unit))]
                stage[0] = event.stage
                if event.total:
                    bar[0].start(event.total)
            bar[0].update(event.done)

        def done() -> None:
            bars.close()
            stage[0] = ""

        yield tell, done


def write_compared(
    compared: Compared | None, manifest: OrderManifest, out: Path, signer: SignerProcess | None, force: bool
) -> ComparedLine:
    """Write beside an order what of it was compared with its script, say so, and return what was said.

    Args:
        compared: What was compared; None where nothing was, and then nothing is written.
        manifest: The order's manifest.
        out: Its file, which is written.
        signer: Holds the client's key, which signs it; unsigned unless given.
        force: Whether a file that lies there may be replaced.
    """
    import torch

    from counterfoil.signing.comparedsteps import (
        NOT_COMPARED,
        ComparedLine,
        compared_in,
        comparison_path,
        ranges_of,
    )
    from counterfoil.signing.comparison import write_comparison
    from counterfoil.signing.kinds import Comparison

    console = terminal.console()
    if compared is None:
        if force:
            # What lies there is of the order that was replaced.
            comparison_path(out).unlink(missing_ok=True)
        console.print(f"[bold yellow]NOTE[/]  {markup(NOT_COMPARED)}")
        return ComparedLine(NOT_COMPARED, less=True)
    ranges = ranges_of(compared.steps)
    made = Comparison(
        manifest.digest,
        compared.script,
        compared.arguments,
        dict(compared.files),
        torch.__version__,
        ranges,
        manifest.steps,
    )
    path = write_comparison(out, made, signer, force=force)
    line = ComparedLine(f"{compared_in(ranges, manifest.steps)}.", len(compared.steps) < manifest.steps)
    console.print(f"{'[bold yellow]NOTE[/]  ' * line.less}{markup(line.said)}", soft_wrap=True)
    console.print(f"Wrote {markup(str(path))}, which says so.", soft_wrap=True)
    return line


def look_again(
    draft: OrderDraft, source: str, precision: AnyPrecision | None, segments: Segments | None, shares: int | None
) -> SecondLook | None:
    """Begin a second look at the function that was ordered, in a process of its own; None where there can be none.

    Args:
        draft: The order.
        source: The function that it is of.
        precision: The precision profile that was named.
        segments: Segments of the forward pass whose activations are recomputed.
        shares: Into how many shares steps are divided; None where the function says.
    """
    from counterfoil.training.secondlook import Source, begin

    return begin(Source(source, profile_name(precision), segments, shares))


def _choose_profile(question: str, profiles: Sequence[str]) -> AnyPrecision:
    """Ask on a terminal which of some precision profiles is meant; raises DataError where nobody is asked."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        from counterfoil.training.scripts.handover import refuse_to_choose

        return refuse_to_choose(question, profiles)
    console = terminal.console()
    console.print(markup(question), soft_wrap=True)
    return PROFILES[Prompt.ask("Precision profile", console=console, choices=list(profiles), default=profiles[0])]

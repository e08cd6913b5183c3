"""The command that compiles kernels ahead."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import terminal
from counterfoil.cli.terminal import duration


def compile_kernels(
    processes: Annotated[
        int | None,
        typer.Option(min=1, help="How many processes do it at once.", show_default="one for each core, at most 4"),
    ] = None,
) -> None:
    """Anyone: after an installation, compile what computes, so that no command waits for it.

    Counterfoil's loops over tensors are compiled for this machine's processor. Whatever is not compiled yet is compiled
    when it is first used, which makes the first recording or audit of an installation slower, and changes nothing else.
    What was compiled is kept beside the installation, or in your cache folder.

    Example: counterfoil compile-kernels
    """
    console = terminal.console(stderr=True)
    begun = time.monotonic()
    with cancel_on_interrupt() as cancel, terminal.progress("Kernels", console, "parts") as bar:
        from counterfoil.audit.boxed.compiling import compile_kernels as compiled

        done = 0
        for event in compiled(processes, cancel):
            bar.start(event.total)
            bar.update(event.done, event.part)
            done = event.done
    terminal.console().print(f"Compiled kernels in {done} parts; it took {duration(time.monotonic() - begun)}.")

"""The command that examines this machine, and compiles kernels ahead."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import terminal
from counterfoil.cli.exits import ExitWith
from counterfoil.cli.jsonform import print_json
from counterfoil.cli.terminal import duration
from counterfoil.doctor.examination import examine_machine
from counterfoil.doctor.findings import MachinePage
from counterfoil_core.values.outcome import Outcome


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the page as JSON, for scripts.")] = False,
    compile_now: Annotated[
        bool,
        typer.Option(
            "--compile",
            help="Look at nothing; compile what computes for this machine's processor, so that no command waits for "
            "it.",
        ),
    ] = False,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="With --compile: how many processes do it at once.",
            show_default="one for each core, at most 4",
        ),
    ] = None,
) -> None:
    """Anyone: examine this machine: what is there, what is wrong with it, and the remedy for each.

    Says versions, instruction sets, devices, memory, how far the box around a replay closes, where things are kept,
    and in which form it computes; tests each family of precision profiles by known answers; and asks for a display.
    Nothing is sent anywhere. Exit code 0 if nothing is wrong, else 4.

    Counterfoil's loops over tensors are compiled for this machine's processor. Whatever is not compiled yet is compiled
    when it is first used, which makes the first recording or audit of an installation slower, and changes nothing else.
    What was compiled is kept beside the installation, or in your cache folder; --compile does it ahead.

    Example: counterfoil doctor
    """
    if processes is not None and not compile_now:
        raise typer.BadParameter("--processes belongs to --compile.")
    if compile_now and as_json:
        raise typer.BadParameter("--compile prints no JSON.")
    if compile_now:
        _compile_kernels(processes)
        return
    page = _examined()
    if as_json:
        print_json(page, wrong=page.wrong)
    else:
        out = terminal.console()
        for line in page.text.splitlines():
            out.print(line, markup=False, soft_wrap=True, style="bold red" if line.startswith("  WRONG") else None)
    if page.wrong:
        raise ExitWith(Outcome.ERROR.exit_code)


def _examined() -> MachinePage:
    console = terminal.console(stderr=True)
    with cancel_on_interrupt() as cancel, terminal.progress("Examining", console, "parts") as bar:
        for event in examine_machine(cancel):
            if isinstance(event, MachinePage):
                return event
            bar.start(event.total)
            bar.update(event.done, event.part)
    raise AssertionError("an examination ends with its page")


def _compile_kernels(processes: int | None) -> None:
    console = terminal.console(stderr=True)
    begun = time.monotonic()
    with cancel_on_interrupt() as cancel, terminal.progress("Kernels", console, "parts") as bar:
        from counterfoil.audit.boxed.compilation import compile_kernels

        done = 0
        for event in compile_kernels(processes, cancel):
            bar.start(event.total)
            bar.update(event.done, event.part)
            done = event.done
    terminal.console().print(f"Compiled kernels in {done} parts; it took {duration(time.monotonic() - begun)}.")

"""Lets a process of its own carry out a command of the command line for a program, and brings what it says.

It is the command as whoever sits at a terminal calls it: with the same comparison of its paths, in the same box where
it reads what a stranger made, with its key held by a signer. A passphrase goes through a descriptor that the process
inherits, past its command line and its environment. To stop means to end it: what a command writes is written whole or
not at all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from counterfoil.cli.commandevents import CommandProgress
from counterfoil.signer.environment import pipe_of
from counterfoil.talk.port import Port
from counterfoil.talk.process import Process, Start, Words
from counterfoil.talk.programs import DESCRIPTOR_VARIABLE, PASSPHRASE_VARIABLE, program_environment
from counterfoil.talk.table import COMMAND
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.base.sentence import say


@dataclass(frozen=True)
class CommandEnded:
    """A command came to its end; the last that is told."""

    code: int  #: Its exit code.
    said: str  #: What it printed.


CommandEvent = CommandProgress | CommandEnded
CarryOut = Callable[[Sequence[str], Callable[[CommandEvent], None]], None]


class _Words(Words):
    def ended(self, code: int) -> CounterfoilError:
        return CounterfoilError(
            say("The process of the job ended with code {0} before its work was done.", code),
            remedy=say("Most often the machine ran out of memory. Close other programs, and try again."),
        )


def command(
    carry_out: CarryOut, arguments: tuple[str, ...], tell: Callable[[CommandEvent], None]
) -> Iterator[CommandEvent]:
    """Carry out a command.

    Args:
        carry_out: Does so, and tells what it does.
        arguments: The command, and its arguments.
        tell: Is told.
    """
    carry_out(arguments, tell)
    return iter(())


COMMANDS = Port[CarryOut](command, given="carry_out")
"""What the process may be asked."""


def run_command(arguments: Sequence[str], passphrase: str | None, cancel: CancelToken) -> Iterator[CommandEvent]:
    """Carry out a command in a process of its own.

    Args:
        arguments: The command, and its arguments.
        passphrase: Of the key that it signs with; None where it opens none.
        cancel: Ends it.

    Yields:
        CommandProgress now and then, and at the end CommandEnded.

    Raises:
        OrderError: It failed; says which option that is about, where it is about one.
        CancelledError: ``cancel`` was set.
        CounterfoilError: The process cannot be started, or ended before its work was done.
    """
    start = Start()
    descriptors: tuple[int, ...] = ()
    if passphrase is not None and os.name == "posix":
        descriptors = (pipe_of(passphrase),)
        inherits = program_environment(**{DESCRIPTOR_VARIABLE: str(descriptors[0])})
        start = Start(environment=inherits, descriptors=descriptors)
    elif passphrase is not None:  # other systems hand on no descriptors
        start = Start(environment=program_environment(**{PASSPHRASE_VARIABLE: passphrase}))
    try:
        process = Process(COMMAND, _Words(), start)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    try:
        yield from process.ask(COMMANDS, COMMANDS.call(command, (tuple(arguments),), {}), cancel)
    finally:
        process.end(now=True)

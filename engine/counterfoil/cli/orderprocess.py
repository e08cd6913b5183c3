"""Lets a process of its own carry out ``counterfoil order``, and says what that tells.

The command may run a client's own code, which may leave anything behind in its process: it is used for one order, and
reads no file of a stranger's. To stop means to ask it, and to end it where it does not listen; an order file is written
whole or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from counterfoil.cli.commandevents import OrderEvent
from counterfoil.talk.port import Port
from counterfoil.talk.process import Process, Start, Words
from counterfoil.talk.table import ORDER
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.base.sentence import say


class _Words(Words):
    def unstarted(self, error: OSError) -> CounterfoilError:
        return CounterfoilError(
            say("The process that writes orders cannot be started: {0}.", error.strerror or error),
            remedy=say("Close other programs, and try again."),
        )

    def ended(self, code: int) -> CounterfoilError:
        return CounterfoilError(
            say("The process that writes orders ended with code {0} before its work was done.", code),
            remedy=say("Most often the machine ran out of memory. Close other programs, and try again."),
        )

    def nonsense(self, error: Exception) -> CounterfoilError:
        return CounterfoilError(
            say("What the process that writes orders said cannot be read."),
            remedy=say("The code that was ordered may have written into its pipe. Look at what it does."),
            detail=str(error),
        )


def order(
    carry_out: Callable[[Sequence[str], str, Callable[[OrderEvent], None]], None],
    arguments: tuple[str, ...],
    folder: str,
    tell: Callable[[OrderEvent], None],
) -> Iterator[OrderEvent]:
    """Carry out ``counterfoil order``.

    Args:
        carry_out: Does so, in a folder or in none, and tells what it does.
        arguments: Its arguments.
        folder: The folder to do it in; empty for none.
        tell: Is told.
    """
    carry_out(arguments, folder, tell)
    return iter(())


ORDERS = Port[Callable[[Sequence[str], str, Callable[[OrderEvent], None]], None]](order, given="carry_out")
"""What the process may be asked."""


def make_order(arguments: Sequence[str], folder: Path | None, cancel: CancelToken) -> Iterator[OrderEvent]:
    """Write an order as ``counterfoil order`` does, in a process of its own.

    Args:
        arguments: The arguments of ``counterfoil order``.
        folder: The folder to run it in; None for the present one.
        cancel: Looked at all the time.

    Yields:
        CommandProgress now and then, and at the end OrderWritten.

    Raises:
        OrderError: No order was written; says which option that is about, where it is about one.
        CancelledError: ``cancel`` was set.
        CounterfoilError: The process cannot be started, or ended before its work was done.
    """
    process = Process(ORDER, _Words(), Start(shows_errors=True))
    try:
        call = ORDERS.call(order, (tuple(arguments), "" if folder is None else os.fspath(folder)), {})
        yield from process.ask(ORDERS, call, cancel)
    finally:
        process.end()

"""Files that a command is given by their address."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rich.console import Console

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import monitor
from counterfoil.cli.terminal import markup
from counterfoil_core.remote.address import Address


@contextmanager
def provide_file(place: Path | Address, console: Console) -> Iterator[Path | Address]:
    """Provide what a command reads: as it was given, or a copy of it where its server gives no pieces of a file.

    Args:
        place: Where the file lies.
        console: Told of a copy.

    Raises:
        GivenFileError: There is no such file, it may not be read, or it is too large to be copied.
        FileReadError: Its server does not answer.
        CancelledError: The user stopped it.
    """
    if isinstance(place, Path):
        yield place
        return
    outside = monitor.current_monitor()
    with ExitStack() as stack:
        if outside is not None:
            found = outside.near or place
        else:
            from counterfoil.remote.files import near  # with the libraries for networks

            with cancel_on_interrupt() as cancel:
                found = stack.enter_context(near(place, cancel))
        if isinstance(found, Path):
            size = found.stat().st_size
            console.print(
                markup(f"The server of {place.shown} gives no pieces of a file: all of it was fetched, {size:,} bytes.")
            )
        yield found


@contextmanager
def provide_whole_file(place: Path | Address) -> Iterator[Path]:
    """Provide a file that is read whole: as it was given, or a copy; raises as :func:`provide_file`."""
    if isinstance(place, Path):
        yield place
        return
    from counterfoil.remote.files import local_copy  # with the libraries for networks

    with ExitStack() as stack:
        with cancel_on_interrupt() as cancel:
            path = stack.enter_context(local_copy(place, cancel))
        yield path

"""The commands put together, and the function that runs them."""

from __future__ import annotations

import functools
import gc
import io
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Annotated, Any

import typer
import typer.main

from counterfoil import __version__
from counterfoil.base.foreignerrors import describe_error, theirs
from counterfoil.cli.commands import MOST_COLUMNS, PLACES, Commands, group_of_commands, own_process
from counterfoil.cli.exits import ExitWith, exit_code, show_error
from counterfoil.signer.environment import drop_passphrase, hide_passphrase
from counterfoil.talk.programs import is_program, run_program, settle_temporary_folder
from counterfoil_core.base.errors import CancelledError, CounterfoilError, FileWriteError, RefusedError
from counterfoil_core.base.obstacles import memory_shortage
from counterfoil_core.values.outcome import Outcome

# The streams of a command's process, when whoever reads them has read enough, or there is no room for them.


class _Kept(io.FileIO):
    """A stream of the process; what is written when nobody reads any more goes nowhere, and is no error."""

    trouble: OSError | None = None
    """Why the rest of what was printed is lost, other than that nobody reads it."""

    def write(self, data: Any) -> int:
        """Write bytes; returns how many were taken."""
        try:
            return super().write(data)
        except OSError as error:
            if not isinstance(error, BrokenPipeError):
                self.trouble = error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return len(data)


_KEPT: list[_Kept] = []
"""Streams of this process, standard output first."""


def outlive_readers() -> None:
    """Let this process go on when whoever reads its output has read enough (``counterfoil audit ... | head -1``).

    So it does where a disk is full, which :func:`lost_output` says in the end. A command's work is not in what it
    prints: it comes to its end and writes its files.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        try:
            descriptor = stream.fileno()
        except (AttributeError, OSError):
            # There is no stream, or it is no file of the system's: no pipe that could be closed.
            continue
        stream.flush()
        raw = _Kept(descriptor, "wb", closefd=False)
        _KEPT.append(raw)
        within: Any = io.BufferedWriter(raw) if isinstance(stream.buffer, io.BufferedWriter) else raw
        kept = io.TextIOWrapper(
            within, stream.encoding, stream.errors, None, stream.line_buffering, stream.write_through
        )
        setattr(sys, name, kept)


def lost_output() -> OSError | None:
    """Write out what is still to be printed; returns why some of it was lost, None where all is printed or unread."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # there is none, or it is closed
            stream.flush()
    return next((kept.trouble for kept in _KEPT if kept.trouble is not None), None)


_LOG = logging.getLogger("counterfoil")
# What typer exits with by itself. Its 2 for a wrong call would read as INCONCLUSIVE.
_TYPER_EXITS = {0: 0, 2: Outcome.ERROR.exit_code}
_TYPER_STOPPED = (1, 130)
"""What typer exits with, next to silently, when somebody presses Ctrl-C; which one depends on its version."""

app = group_of_commands(
    name="counterfoil",
    cls=Commands,
    help="Find out whether the training you ordered is the training that happened.",
    epilog="Exit codes: 0 VERIFIED or done, 1 DISPUTED, 2 INCONCLUSIVE or stopped, 3 REFUSED, 4 ERROR, 5 a "
    "verdict that the trainer of its run signed.",
    no_args_is_help=True,
    context_settings={"max_content_width": MOST_COLUMNS},
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: The arguments. Unless given, those of the process, which is then started again if there is a
            passphrase in its environment.

    Returns:
        The exit code.
    """
    if arguments is not None:
        return _main(arguments)
    if is_program(sys.argv):
        return run_program(sys.argv[2:])
    outlive_readers()
    settle_temporary_folder()
    own_process()
    try:
        return _printed(_main(None))
    finally:
        # The command has said how it ended: a signal while the interpreter is taken down changes nothing.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # CPython ends itself by SIGINT, whatever is returned here, if the last string that it executed was left by
        # KeyboardInterrupt, be it caught or not; dataclasses execute strings while modules are loaded.
        exec("")
        # Else garbage is looked for in what is left of a large program; but Triton complains of what stays.
        if "triton" not in sys.modules:
            gc.freeze()


def _printed(code: int) -> int:
    """Say where some output was lost; returns the exit code, which is no success then, since a script reads output."""
    lost = lost_output()
    if lost is None:
        return code
    failed = show_error(
        FileWriteError(
            f"What the command prints could not be written: {lost.strerror}.",
            remedy="Make room, or print elsewhere. Files that it was to write are written.",
        )
    )
    return code or failed


def _main(arguments: Sequence[str] | None) -> int:
    try:
        if arguments is None:
            hide_passphrase()
        _parser()(args=None if arguments is None else list(arguments))
    except ExitWith as done:
        return exit_code(done)
    except SystemExit as ended:
        if exit_code(ended) in _TYPER_STOPPED:
            return show_error(CancelledError("Stopped; nothing was concluded."))
        return _TYPER_EXITS.get(exit_code(ended), Outcome.ERROR.exit_code)
    except RefusedError as error:
        return show_error(_machines_own(error) or error)
    except CounterfoilError as error:
        return show_error(error)
    except KeyboardInterrupt:
        return show_error(CancelledError("Stopped; nothing was concluded."))
    except BaseException as error:
        _LOG.debug("unexpected", exc_info=True)
        return show_error(_machines_own(theirs(error)) or _bug(error))
    return 0


def _machines_own(error: BaseException) -> CounterfoilError | None:
    """The error that says what this machine lacks or does wrong; None where it is not the machine's trouble."""
    if "torch" in sys.modules:
        from counterfoil_core.base.trouble import obstacle_behind

        return obstacle_behind(error)
    return memory_shortage(repr(error)) if isinstance(error, MemoryError) else None


def _bug(error: BaseException) -> CounterfoilError:
    return CounterfoilError(
        f"Counterfoil failed: {describe_error(error)}.",
        remedy="This is a bug. Run the command again as 'counterfoil --debug ...', and report what it shows.",
    )


@functools.cache
def _parser() -> Callable[..., Any]:
    """The commands as they are called; typer would read all signatures again at each call."""
    return typer.main.get_command(app)


def _show_version(verbose: bool) -> None:
    """Say which version runs; with more, what it runs on, and whether its files are those that were installed."""
    if not verbose:
        print(f"counterfoil {__version__}")
        return
    from counterfoil.doctor.installation import compare_installation, report_lines

    found = compare_installation()
    for line in report_lines(found):
        print(line)
    if not found.as_recorded:
        raise ExitWith(Outcome.ERROR.exit_code)


# Without a command too, or typer would ask for one before it lets the version be shown.
@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            help="With --version: print the versions of what it runs on too, and compare the installed files with "
            "RECORD. Exit code 4 if they differ.",
        ),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show technical details of errors.")] = False,
) -> None:
    if version:
        _show_version(verbose)
        raise typer.Exit
    if verbose:
        raise typer.BadParameter("--verbose belongs to --version.")
    if context.invoked_subcommand is None:
        context.fail("Missing command.")
    from counterfoil.cli.terminal import LogFormatter

    # What libraries warn of concerns developers: it goes to the log, which is shown with --debug.
    logging.captureWarnings(True)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING if debug else logging.CRITICAL)
    _LOG.setLevel(logging.DEBUG if debug else logging.CRITICAL)
    if not PLACES[context.invoked_subcommand].with_key:
        drop_passphrase()

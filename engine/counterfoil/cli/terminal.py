"""The terminal: where the command line prints, what is safe to print, and progress.

Whatever comes out of a file goes through :func:`markup`: it stays within its line, and has no colour and no codes of
its own.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from counterfoil.base.oneline import SENTENCE_CHARACTERS, one_line
from counterfoil.cli.commandevents import ToldBar, report_target

PLAIN_WIDTH = 110
"""Columns when the output goes to a file or a pipe, where no terminal says how wide it is."""
PLAIN_LINES = 10
"""Lines of progress when nobody watches a bar."""


def console(*, stderr: bool = False) -> Console:
    """Return a console on standard output or standard error."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, highlight=False, emoji=False, width=None if stream.isatty() else PLAIN_WIDTH)


def markup(text: str) -> str:
    """Return a text that may be a stranger's, or quote one, as markup for a console: one line, without codes."""
    line = one_line(text, SENTENCE_CHARACTERS)
    # A backslash at the end would take the meaning from the markup behind it.
    return escape(f"{line[:-1]}\\x5c" if line.endswith("\\") else line)


class LogFormatter(logging.Formatter):
    """Keeps what a log record quotes from a stranger's file within its line; lines of a traceback have a mark."""

    def __init__(self) -> None:
        super().__init__(logging.BASIC_FORMAT)

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text."""
        first = one_line(f"{record.levelname}:{record.name}:{record.getMessage()}", SENTENCE_CHARACTERS)
        rest = self.formatException(record.exc_info).split("\n") if record.exc_info else []
        return "\n".join([first, *(f"    | {_indented(line)}" for line in rest)])


def _indented(line: str) -> str:
    """Return one line of a traceback as :func:`one_line`, with the spaces at its beginning."""
    spaces = len(line) - len(line.lstrip(" "))
    return " " * spaces + one_line(line[spaces:], SENTENCE_CHARACTERS)


class StepProgress(Protocol):
    """Where a long job reports; see :func:`progress`."""

    def start(self, steps: int) -> None:
        """Say how many steps there are."""

    def update(self, done: float, note: str = "") -> None:
        """Say how many steps are done, with a part of the current one, and a few words on the last."""

    def go_on_from(self, done: int) -> None:
        """Say how many steps were done before: they say nothing of how fast it goes."""


class _RateColumn(ProgressColumn):
    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.2f} {self._unit}/s" if task.speed else "", style="cyan")


class _CountColumn(ProgressColumn):
    """How many steps are done, once it is known how many there are."""

    def render(self, task: Task) -> Text:
        return Text("" if task.total is None else f"{task.completed:.0f}/{task.total:.0f}")


class _Bar:
    def __init__(self, bar: Progress, title: str) -> None:
        self._bar = bar
        self._task = bar.add_task(title, total=None, note="")

    def start(self, steps: int) -> None:
        self._bar.update(self._task, total=steps)

    def update(self, done: float, note: str = "") -> None:
        self._bar.update(self._task, completed=done)
        if note:
            self._bar.update(self._task, note=one_line(note))

    def go_on_from(self, done: int) -> None:
        self._bar.reset(self._task, completed=done)


class _Lines:
    def __init__(self, out: Console, title: str) -> None:
        self._out = out
        self._title = title
        self._steps = 0
        self._shown = 0

    def start(self, steps: int) -> None:
        self._steps = steps

    def update(self, done: float, note: str = "") -> None:
        if not self._steps:  # what comes before the steps would be a line for each percent
            return
        line = PLAIN_LINES if done >= self._steps else int(done * PLAIN_LINES / self._steps)
        if note and line > self._shown:
            self._shown = line
            self._out.print(f"{self._title}: step {int(done)} of {self._steps}, {markup(note)}")

    def go_on_from(self, done: int) -> None:
        self._shown = int(done * PLAIN_LINES / self._steps)


@contextmanager
def progress(title: str, out: Console, unit: str = "steps") -> Iterator[StepProgress]:
    """Show a bar with rate (in ``unit`` per second) and time left on a terminal, and a few plain lines elsewhere.

    Args:
        title: What goes on.
        out: Where it is shown.
        unit: What is counted; the rate is in these per second.
    """
    tell = report_target()
    if tell is not None:
        yield ToldBar(tell, title, unit)
        return
    if not out.is_terminal:
        yield _Lines(out, title)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        _CountColumn(),
        _RateColumn(unit),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[note]}", style="dim", markup=False),
    )
    with Progress(*columns, console=out) as bar:
        yield _Bar(bar, title)


def shows(bar: StepProgress) -> Callable[[int, int], None]:
    """Return what a job calls with what is done and the total; the bar begins again where the total is another."""
    totals: list[int] = []

    def show(done: int, total: int) -> None:
        if totals[-1:] != [total]:
            totals.append(total)
            bar.start(total)
        bar.update(done)

    return show


def duration(seconds: float) -> str:
    """Write a time with about two significant digits: 0.4 s, 12 s, 3 min, 2 h 5 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"

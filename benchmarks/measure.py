"""What a benchmark is, and the one way in which all of them take their measures.

A benchmark is a list of cells, each the smallest piece whose figures are kept, and one function that measures a cell.
Cells are measured in processes of their own: one that hangs or dies takes no other with it, what is timed has the
machine to itself, and each result is a line of a file as soon as it is there, so that what was stopped goes on. What a
process of ours takes, in time and in memory, is noted with each. Nothing here loads torch: what is to be measured may
be how little a process loads.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import queue
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from argparse import Namespace
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.pages import duration, origin, paragraphs, write_between
from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.base.wholefiles import write_errors, write_whole
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CounterfoilError, DataError

ROOT = Path(__file__).resolve().parents[1]
"""The source tree."""
STRANGE, UNDONE = 1, 2
"""Exit codes: something is not as it should be; something is left to do."""
_LOOK_SECONDS = 0.2

Values = dict[str, Any]
"""Figures, as JSON takes them. ``said`` among them is a line for who watches, ``strange`` has a sentence for each thing
that should not be so."""
Say = Callable[[str], None]


# What a benchmark is.


@dataclass(frozen=True)
class Cell:
    """The smallest piece whose figures are kept."""

    key: str  #: What tells it from all others of the benchmark.
    seconds: float = 30.0  #: How long it is expected to take.
    limit: float = 3600.0  #: Seconds after which its process is ended.
    alone: bool = False  #: Whether nothing else may run beside it, because it is timed.
    fresh: bool = False  #: Whether it needs a process that did nothing before, because its memory is measured.
    #: What its process has in its environment beside what this one has.
    variables: Mapping[str, str] = field(default_factory=dict)


class Ended(StrEnum):
    """How a cell ended."""

    DONE = "done"
    LEFT_OUT = "left out"
    FAILED = "failed"
    TIMED_OUT = "timed out"


class LeftOutError(CounterfoilError):
    """A cell cannot be measured here; the sentence says why."""


@dataclass(frozen=True)
class Result:
    """A cell that ended."""

    key: str  #: The cell's.
    outcome: Ended  #: How it ended.
    said: str  #: One line for who watches; of a failure what went wrong.
    seconds: float  #: How long it took.
    values: Values = field(default_factory=dict)  #: The figures.
    strange: Sequence[str] = ()  #: A sentence for each thing that should not be so.
    detail: str = ""  #: The end of a traceback.
    processor: float = 0.0  #: Seconds of the processor, of the processes that it started too.
    peak: int = 0  #: Peak memory of its process in bytes; 0 where it is not known.
    origin: str = ""  #: On what machine, with which versions, when.

    @property
    def sentences(self) -> list[str]:
        """A sentence for each thing that should not be so, failures among them."""
        failed = self.outcome in (Ended.FAILED, Ended.TIMED_OUT)
        return [*self.strange, *([f"{self.key}: {self.outcome.value}: {self.said}"] if failed else [])]


Results = Mapping[str, Result]
"""What is kept, by key."""
Sections = Mapping[tuple[str, str], str]
"""Markdown by page, a name in ``docs/``, and part of the page; without a name of a part it is the whole page."""


def argument(*names: str, **settings: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """An argument of a command, as :meth:`argparse.ArgumentParser.add_argument` takes it."""
    return names, settings


def some_of(name: str, known: Collection[str]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The argument of a command that takes some of the known names; one that begins with dashes is an option."""

    def check(text: str) -> str:
        if text not in known:
            raise argparse.ArgumentTypeError(f"there is no {text!r}; there are {', '.join(known)}")
        return text

    return argument(name, nargs="*", default=[], type=check, metavar="NAME", help=f"some of {', '.join(known)}")


@dataclass(frozen=True)
class Benchmark:
    """One benchmark: what it takes, what it measures, and what is shown of it."""

    what: str  #: What it does; the help of its command.
    cells: Callable[[Namespace], Sequence[Cell]]  #: Its cells, the most valuable first.
    measure: Callable[[Namespace, str], Values]  #: Measures the cell of a key.
    #: What is shown of all results that are kept.
    sections: Callable[[Results, Namespace], Sections]
    arguments: Sequence[tuple[tuple[str, ...], dict[str, Any]]] = ()  #: Those of its own.
    out: str = ""  #: The folder in which results are kept unless told otherwise; none where each call begins anew.
    here: bool = False  #: Whether it is measured in this very process, since nothing is timed.
    threads: int | None = 1  #: Threads on the CPU unless told otherwise.
    about: Callable[[Namespace], dict[str, str]] = lambda _options: {}  #: What results of one folder have in common.
    picture: Callable[[Results, Path], None] | None = None  #: Draws the results.
    store: Callable[[Namespace], Store] = lambda options: Store(options.out)  #: Where its results are kept.

    def parsed(self, name: str, arguments: Sequence[str]) -> Namespace:
        """Read the arguments of a call."""
        form = argparse.RawDescriptionHelpFormatter if "\n" in self.what else argparse.HelpFormatter
        parser = argparse.ArgumentParser(f"python -m benchmarks {name}", description=self.what, formatter_class=form)
        for names, settings in self.arguments:
            parser.add_argument(*names, **settings)
        kept = self.out or "none: each call begins anew"
        parser.add_argument("--out", type=Path, help=f"folder of results; what it has is not done again ({kept})")
        parser.add_argument("--threads", type=int, default=self.threads, help="threads on the CPU (%(default)s)")
        parser.add_argument("--workers", type=int, default=1, help="processes for what is not timed (%(default)s)")
        parser.add_argument("--minutes", type=float, default=math.inf, help="begin nothing after so long; 0: only show")
        parser.add_argument(
            "--write", type=Path, nargs="?", const=Path("docs"), help="write the page, or the pages in this folder"
        )
        if self.picture is not None:
            parser.add_argument("--plot", type=Path, help="draw the results into this PNG file")
        parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
        return parser.parse_args(arguments)

    def in_process(self, arguments: Sequence[str]) -> Results:
        """Measure what is left in this very process, as a part of something else; returns all that is kept."""
        options = self.parsed("", arguments)
        store, cells = self.store(options), self.cells(options)
        before = store.results()
        for cell in cells:
            if cell.key not in before or before[cell.key].outcome is not Ended.DONE:
                store.keep(measure_cell(self, options, cell.key))
        return store.results()

    def main(self, name: str, arguments: Sequence[str]) -> int:
        """Measure what is left, and print or write what is shown of it.

        Returns:
            0, or :data:`STRANGE`, or :data:`UNDONE`.

        Raises:
            CounterfoilError: A result cannot be kept, results are another's, or a page cannot be written.
        """
        options = self.parsed(name, arguments)
        if options.serve:
            _serve(self, options)
            return 0
        with _folder(options.out, self.out) as folder:
            options.out = folder
            store = self.store(options)
            if options.minutes and (about := self.about(options)):
                store.claim(about)
            cells = self.cells(options)
            child = command(name, *arguments, "--out", str(folder), "--serve")
            with cancel_on_interrupt() as cancel:
                undone = measure_all(self, options, cells, store, child, cancel=cancel)
            results = store.results()
            show(self, results, options)
        strange = [sentence for one in results.values() for sentence in one.sentences]
        for sentence in strange:
            print(f"Not as it should be: {sentence}")
        if undone and options.minutes:
            print(f"Not done: {', '.join(cell.key for cell in undone)}. The same command goes on.")
        return STRANGE if strange else UNDONE if undone and options.minutes else 0


def show(benchmark: Benchmark, results: Results, options: Namespace) -> None:
    """Print or write what is shown of results, and draw them if asked.

    Raises:
        DataError: A page has no place for it.
        FileWriteError: It cannot be written.
    """
    sections = benchmark.sections(results, options)
    if options.write is None:
        print("\n\n".join(sections.values()))
    for (page, part), text in sections.items() if options.write is not None else ():
        path = options.write / page if options.write.is_dir() else options.write
        if part:
            write_between(path, part, text)
        else:
            with write_errors(path, "the page"):
                path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, f"{text}\n".encode(), what="the page")
        print(f"Wrote {path}.")
    if benchmark.picture is not None and options.plot is not None:
        benchmark.picture(results, options.plot)


def on_page(page: str, part: str, *texts: str) -> Sections:
    """One section of one page, of what there is of some paragraphs."""
    return {(page, part): paragraphs(*texts)}


def origins(results: Results) -> str:
    """Say where, with which versions and when the last result was measured."""
    return next((one.origin for one in reversed(list(results.values()))), "Nothing was measured.")


def figures(results: Results, prefix: str = "") -> dict[str, Values]:
    """Return the figures of what was done, by what follows a prefix of the key."""
    return {
        key.removeprefix(prefix): one.values
        for key, one in results.items()
        if one.outcome is Ended.DONE and key.startswith(prefix)
    }


def slug(name: str) -> str:
    """Return a name as a part of a key or of a file name."""
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")


# Where results are kept.


@contextmanager
def _folder(told: Path | None, otherwise: str) -> Iterator[Path]:
    if told is None and not otherwise:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)
    else:
        yield (told or ROOT / otherwise).resolve()


class Rows:
    """Rows of JSON that are kept as they come, one to a line, so that nothing is lost when a process ends."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def keep(self, row: Mapping[str, Any]) -> None:
        """Add a row."""
        # A process that was killed may have left half a line, whose cell comes again.
        torn = self._path.exists() and not self._path.read_bytes().endswith(b"\n")
        with write_errors(self._path, "a result"):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write("\n" * torn + json.dumps(row) + "\n")

    def by(self, name: str) -> dict[Any, dict[str, Any]]:
        """Return the rows by a value of theirs: of two that have the same the later one counts."""
        lines = self._path.read_text(encoding="utf-8").splitlines() if self._path.exists() else []
        rows = [json.loads(line) for line in lines if line.endswith("}")]
        return {row[name]: row for row in rows}


class Store:
    """The results in a folder.

    Args:
        folder: The folder.
        name: The file there, without its ending.
    """

    def __init__(self, folder: Path, name: str = "results") -> None:
        self.folder = folder
        self._rows, self._about = Rows(folder / f"{name}.jsonl"), Rows(folder / "about.jsonl")

    def claim(self, about: Mapping[str, str]) -> None:
        """Say whose results these are, or check that they are of the same.

        Raises:
            DataError: They are another's.
        """
        before = self.about
        if not before:
            self._about.keep({"about": dict(about), "of": "all"})
        elif other := [f"{before[name]}, not {about[name]}" for name in about if before[name] != about[name]]:
            raise DataError(f"The results in {self.folder} are of {'; '.join(other)}.", remedy="Name another folder.")

    @property
    def about(self) -> dict[str, str]:
        """What is said of them; empty where nothing was measured."""
        return dict(self._about.by("of").get("all", {}).get("about", {}))

    def keep(self, result: Result) -> None:
        """Keep a result; it takes the place of an earlier one of the cell."""
        self._rows.keep(asdict(result))

    def results(self) -> dict[str, Result]:
        """Return the results that are there, by key."""
        return {key: Result(**{**row, "outcome": Ended(row["outcome"])}) for key, row in self._rows.by("key").items()}


# Processes.


def command(*arguments: str) -> list[str]:
    """Return the command that starts a process of the laboratory; its environment is :func:`environment`."""
    return [sys.executable, "-m", "benchmarks", *arguments]


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment, in which the laboratory is found, with variables added."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path, **more}


def measure_cell(benchmark: Benchmark, options: Namespace, key: str) -> Result:
    """Measure a cell in this process; whatever goes wrong is its result."""
    begun, used = time.perf_counter(), sum(os.times()[:4])
    outcome, values, strange, detail = Ended.DONE, Values(), (), ""
    try:
        values = dict(benchmark.measure(options, key))
        said, strange = str(values.pop("said", "done")), tuple(values.pop("strange", ()))
    except LeftOutError as error:
        outcome, said = Ended.LEFT_OUT, error.sentence
    except Exception as error:
        sentence = error.sentence if isinstance(error, CounterfoilError) else f"{type(error).__name__}: {error}"
        outcome, said, detail = Ended.FAILED, sentence[:1000], traceback.format_exc()[-3000:]
    gc.collect()
    if (torch := sys.modules.get("torch")) is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
    took, used = round(time.perf_counter() - begun, 3), round(sum(os.times()[:4]) - used, 3)
    place = origin(getattr(options, "threads", None), getattr(options, "device", "cpu"))
    return Result(key, outcome, said, took, values, strange, detail, used, peak_memory(), place)


def _serve(benchmark: Benchmark, options: Namespace) -> None:
    """Measure the cells whose keys come on standard input, a line of JSON each."""
    # What libraries print goes to the log.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        key = json.loads(line)
        print(f"== {key}", file=sys.stderr, flush=True)
        print(json.dumps(asdict(measure_cell(benchmark, options, key))), file=answers, flush=True)


class _Process:
    """A process that measures one cell after the other."""

    def __init__(
        self, child: Sequence[str], variables: Mapping[str, str], log: Path, answers: queue.Queue[Any]
    ) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log.open("a", encoding="utf-8")
        # What it starts ends with it, and Ctrl-C is for the process that watches.
        self._child = subprocess.Popen(
            child, env=environment(**variables), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
            text=True, encoding="utf-8", start_new_session=True,
        )  # fmt: skip
        self._answers = answers
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.variables, self.begun = variables, 0.0
        self.cell: Cell | None = None

    def _read(self) -> None:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            self._answers.put((self, json.loads(line)))
        self._answers.put((self, None))

    def begin(self, cell: Cell) -> None:
        assert self._child.stdin is not None
        self.cell, self.begun = cell, time.monotonic()
        with suppress(BrokenPipeError):  # it has ended, which its reader says
            self._child.stdin.write(json.dumps(cell.key) + "\n")
            self._child.stdin.flush()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    def end(self) -> None:
        with suppress(ProcessLookupError):  # it has ended
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()
        self._reader.join()
        for stream in (self._child.stdin, self._child.stdout, self._log):
            with suppress(BrokenPipeError):  # of a cell that it never read
                stream.close()  # type: ignore[union-attr]


def measure_all(
    benchmark: Benchmark,
    options: Namespace,
    cells: Collection[Cell],
    store: Store,
    child: Sequence[str],
    *,
    say: Say = lambda line: print(line, file=sys.stderr, flush=True),
    cancel: CancelToken | None = None,
) -> list[Cell]:
    """Measure the cells that are not done yet, until the time is over; those that failed come once more, at the end.

    Args:
        benchmark: The benchmark.
        options: Its options; ``minutes`` is the time, ``workers`` says how many processes there are at a time.
        cells: The cells, the most valuable first.
        store: Keeps their results.
        child: Starts a process that measures the cells that it is told.
        say: Takes a line for each cell.
        cancel: Looked at all the while; what runs is ended, and what is done is kept.

    Returns:
        The cells that have no result.

    Raises:
        FileWriteError: A result cannot be kept.
    """
    before, cancel = store.results(), cancel or CancelToken()
    left = [cell for cell in cells if cell.key not in before]
    left += [cell for cell in cells if cell.key in before and before[cell.key].outcome is not Ended.DONE]
    if len(left) < len(cells):
        say(f"{len(cells) - len(left)} of {len(cells)} are done already.")
    until, answers, numbers = time.monotonic() + 60 * options.minutes, queue.Queue[Any](), count(1)
    logs, kept = store.folder / "logs", count(len(cells) - len(left) + 1)
    processes: list[_Process] = []

    def keep(result: Result) -> None:
        store.keep(result)
        mark = "" if result.outcome is Ended.DONE else f"{result.outcome.value}: "
        say(f"{next(kept)}/{len(cells)} {result.key}: {mark}{result.said} ({duration(result.seconds)})")
        for sentence in result.strange:
            say(f"  NOT EXPECTED: {sentence}")

    def drop(process: _Process) -> None:
        processes.remove(process)
        process.end()

    def assign() -> None:
        busy = [one.cell for one in processes if one.cell is not None]
        fits = [cell for cell in left if cell.seconds <= until - time.monotonic()]
        if not fits or len(busy) >= options.workers or any(cell.alone for cell in (*busy, *(fits[:1] if busy else ()))):
            return
        cell = fits[0]
        left.remove(cell)
        for idle in [one for one in processes if one.cell is None]:
            if cell.fresh or idle.variables != cell.variables:
                drop(idle)
        free = next((one for one in processes if one.cell is None), None)
        if free is None:
            free = _Process(child, cell.variables, logs / f"{os.getpid()}-{next(numbers)}.txt", answers)
            processes.append(free)
        free.begin(cell)
        assign()

    def hear() -> None:
        with suppress(queue.Empty):
            process, row = answers.get(timeout=_LOOK_SECONDS)
            cell = process.cell
            if process not in processes:  # it was ended before
                return
            if row is None or row["outcome"] == Ended.FAILED or (cell is not None and cell.fresh):
                drop(process)  # an error on a GPU may leave it useless to the process that made it
            process.cell = None
            if row is not None:
                keep(Result(**{**row, "outcome": Ended(row["outcome"])}))
            elif cell is not None:
                keep(Result(cell.key, Ended.FAILED, f"Its process ended: {logs} has what it said.", process.seconds))

    try:
        while benchmark.here and left and time.monotonic() < until and not cancel.cancelled:
            keep(measure_cell(benchmark, options, left.pop(0).key))
        while not (benchmark.here or cancel.cancelled):
            assign()
            if not any(one.cell for one in processes):
                break
            hear()
            for process in [one for one in processes if one.cell is not None]:
                assert process.cell is not None
                if process.seconds > process.cell.limit:
                    drop(process)
                    said = f"It took more than {duration(process.cell.limit)}."
                    keep(Result(process.cell.key, Ended.TIMED_OUT, said, process.seconds))
                elif time.monotonic() > until:
                    drop(process)
                    say(f"{process.cell.key}: ended, the time is over")
    finally:
        for process in processes:
            process.end()
    results = store.results()
    return [cell for cell in cells if cell.key not in results]


# Time and memory.


def rounds_of(
    calls: Mapping[str, Callable[[], object]],
    rounds: int,
    *,
    warm_up: int = 2,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Time calls; in each round every one runs once, so that all see the same machine.

    Args:
        calls: By name.
        rounds: Rounds that are timed.
        warm_up: Rounds before these.
        clock: Gives seconds; ``time.process_time`` shows less of what else the machine does.

    Returns:
        The seconds of each call, round by round.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(warm_up + rounds):
        for name, call in calls.items():
            begun = clock()
            call()
            if number >= warm_up:
                times[name].append(clock() - begun)
    return times


def seconds_of(call: Callable[[], object], rounds: int) -> list[float]:
    """Time one call, after a first time that warms up."""
    return rounds_of({"": call}, rounds, warm_up=1)[""]


def ratio(times: Mapping[str, Sequence[float]], upper: str, lower: str) -> float:
    """Return the median over the rounds of one time by another: a machine whose speed drifts does not change it."""
    return median(a / b for a, b in zip(times[upper], times[lower], strict=True))


@dataclass(frozen=True)
class CommandCost:
    """What a command took."""

    seconds: float  #: From its start to its end.
    processor: float  #: Seconds of the processor, of all processes that it started.
    said: str = ""  #: Its standard output.
    lines: Sequence[float] = ()  #: When each line of it came, in seconds from the start.


def run_command(words: Sequence[str], variables: Mapping[str, str] | None = None) -> CommandCost:
    """Run a command.

    Args:
        words: The command.
        variables: Its environment, if it is not that of this process.

    Raises:
        ValueError: It failed.
    """
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True, env=variables) as process,
    ):
        assert process.stdout is not None
        lines = [(line, time.perf_counter() - begun) for line in process.stdout]
        if process.wait():
            errors.seek(0)
            raise ValueError(f"{' '.join(words)} ended with {process.returncode}: {errors.read()}")
    seconds, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return CommandCost(seconds, used, "".join(line for line, _ in lines), [at for _, at in lines])


def least(times: Sequence[CommandCost]) -> CommandCost:
    """The least of each time, since whatever else runs on the machine only adds."""
    return CommandCost(min(one.seconds for one in times), min(one.processor for one in times))


def peak_memory() -> int:
    """Return the peak memory of this process in bytes; 0 where it is not known."""
    status = Path("/proc/self/status")
    if status.exists():
        # Not ru_maxrss: on Linux a child starts with its parent's.
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024

"""Runs a fuzzing campaign: ``python -m tests.fuzz --cases 50000``; exits with 1 when a case fails."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import sys
import tempfile
import time
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

# As pytest has it; and one thread, since a process that has several cannot be copied.
sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ["OMP_NUM_THREADS"] = "1"

from benchmarks.pages import write_between

import counterfoil
from fuzz.campaign import Tally, run
from fuzz.guided import guided
from fuzz.targets import Corpus, Target

HANG_SECONDS = 30.0
"""Wall-clock time after which a case is given up; a case that takes 5 s of processor time has failed already."""
MARKER = "files"
_PIECE = 500


class _Worker:
    """A process that tries some cases of a target; it may crash or hang."""

    def __init__(self, target: Target, seed: int, first: int, count: int) -> None:
        context = multiprocessing.get_context("fork")
        self.target, self.seed, self.first, self.end = target, seed, first, first + count
        self.result, sender = context.Pipe(duplex=False)
        self.number: Synchronized[int] = context.Value("q", first)  # type: ignore[assignment]
        self.process: ForkProcess = context.Process(
            target=_work, args=(sender, self.number, target, seed, first, count), daemon=True
        )
        self.process.start()
        sender.close()
        self._seen, self._since = first, time.monotonic()

    def hangs(self) -> bool:
        """Whether it has been at one case for too long."""
        if self.number.value != self._seen:
            self._seen, self._since = self.number.value, time.monotonic()
        return time.monotonic() - self._since > HANG_SECONDS

    def ended(self, tally: Tally) -> list[tuple[int, int]]:
        """Add what it found, and return the cases that are still to be tried (first and number of each range)."""
        rest = []
        try:
            tally.add(self.result.recv())
        except EOFError:
            number = self.number.value
            self.process.join()
            tally.fail(f"{self.target.name}, case {number} of seed {self.seed}: exit code {self.process.exitcode}")
            # What it had counted is gone with it.
            ranges = ((self.first, number - self.first), (number + 1, self.end - number - 1))
            rest = [(first, count) for first, count in ranges if count]
        self.process.join()
        return rest


def _work(sender: Connection, number: Synchronized[int], target: Target, seed: int, first: int, count: int) -> None:
    def begin(case: int) -> None:
        number.value = case

    sender.send(run(target, seed, first, count, begin))
    sender.close()


def campaign(targets: list[Target], seed: int, cases: int, processes: int) -> dict[str, Tally]:
    """Try ``cases`` cases of each target, in processes that may crash, and count how they end."""
    tallies = {target.name: Tally() for target in targets}
    pieces = [(target, first, min(_PIECE, cases - first)) for target in targets for first in range(0, cases, _PIECE)]
    total, done, start = sum(count for *_, count in pieces), 0, time.monotonic()
    workers: list[_Worker] = []
    while pieces or workers:
        while pieces and len(workers) < processes:
            target, first, count = pieces.pop(0)
            workers.append(_Worker(target, seed, first, count))
        ready = wait([worker.result for worker in workers], timeout=1.0)
        for worker in list(workers):
            if worker.hangs():
                worker.process.kill()
            if worker.result in ready:
                workers.remove(worker)
                tally = tallies[worker.target.name]
                before = tally.cases
                rest = worker.ended(tally)
                done += tally.cases - before
                pieces[:0] = [(worker.target, *part) for part in rest]
        if sys.stderr.isatty():
            left = (time.monotonic() - start) / max(done, 1) * (total - done)
            print(
                f"\r{done:,} of {total:,} cases, {left / 60:.0f} min left \x1b[K", end="", file=sys.stderr, flush=True
            )
    return tallies


def table(tallies: dict[str, Tally]) -> str:
    """The counts as a table in Markdown."""
    lines = [
        "| what is read | cases | refused | read as before | read otherwise | failed | slowest | memory |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, tally in tallies.items():
        counts = " | ".join(f"{tally.outcomes[outcome]:,}" for outcome in ("refused", "same", "other", "failed"))
        memory = f"{tally.growth / 2**20:.0f} MiB"
        lines.append(f"| {name} | {tally.cases:,} | {counts} | {tally.slowest:.2f} s | {memory} |")
    return "\n".join(lines)


def main() -> int:
    """Run a campaign as the arguments say; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=50_000, help="cases in all, shared out evenly (default: 50,000)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same cases (default: 1)")
    parser.add_argument(
        "--guided",
        type=int,
        metavar="N",
        help="try N cases for each target and let coverage guide what is changed; needs atheris",
    )
    parser.add_argument("--only", default="", help="only targets whose name holds this text")
    parser.add_argument("--write", type=Path, help=f"a page whose part '{MARKER}' is replaced by the table")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="processes (default: all cores)")
    arguments = parser.parse_args()
    if arguments.guided is not None:
        return guided(arguments.only, arguments.guided, arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        targets = [target for target in Corpus(Path(folder)).targets() if arguments.only in target.name]
        if not targets:
            parser.error(f"no target's name holds {arguments.only!r}")
        each = -(-arguments.cases // len(targets))
        tallies = campaign(targets, arguments.seed, each, arguments.processes)
    total = sum(tally.cases for tally in tallies.values())
    title = f"Counterfoil {counterfoil.__version__}, Python {platform.python_version()}, seed {arguments.seed}"
    found = f"{title}: {total:,} cases.\n\n{table(tallies)}"
    if arguments.write is None:
        print(found)
    else:
        write_between(arguments.write, MARKER, found)
    failures = [story for tally in tallies.values() for story in tally.failures]
    print("".join(f"\n- {story}" for story in failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

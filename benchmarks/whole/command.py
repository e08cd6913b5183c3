"""``python -m benchmarks whole FOLDER``: trainings of the paper's size from their first step to their last.

Each is ordered, recorded on this machine, audited on another instruction set, and trained ordinarily, in float32, on
both at once; steps of it are recorded with other margins and replayed there. FOLDER keeps orders, runs and every
result (:mod:`benchmarks.campaign`): the same command goes on where it was stopped, inside of a piece too. ``--write``
puts what is there onto the page.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.campaign.process import serve
from benchmarks.campaign.runner import run
from benchmarks.campaign.store import Store
from benchmarks.campaign.task import Found, Task
from benchmarks.pages import origin
from benchmarks.programs import command
from benchmarks.whole.apart import train_apart, train_one
from benchmarks.whole.jobs import JOBS, MACHINES, OTHER, THIS
from benchmarks.whole.page import write_page
from benchmarks.whole.pieces import Pieces
from benchmarks.whole.thresholds import MARGINS, pieces_of_margin

PAGE = Path("docs/paper-experiments.md")
ORDER, RECORD, AUDIT, APART = "order", "record", "audit", "apart"
_SLOWER = 4
"""How much longer a step may take on the other machine."""
_DAY = 86_400.0


def tasks(names: Sequence[str]) -> list[Task]:
    """Return the tasks of some trainings, each after those that it needs."""
    found = []
    for name in names:
        job = JOBS[name]
        whole = job.steps * job.seconds
        here, there = MACHINES[THIS], MACHINES[OTHER]
        found.append(Task(name, ORDER, 60, _DAY))
        found.append(Task(name, RECORD, whole, _DAY, alone=True, variables=here))
        found.append(Task(name, APART, whole, _DAY, alone=True, variables=here))
        found.append(Task(name, AUDIT, _SLOWER * whole, _DAY, alone=True, variables=there))
        for margin in MARGINS:
            found.append(Task(name, f"{RECORD}-{margin}", 60 + 2 * job.seconds, _DAY, variables=here))
            found.append(Task(name, f"{AUDIT}-{margin}", 60 + 2 * _SLOWER * job.seconds, _DAY, variables=there))
    return found


def perform(folder: Path, text: Path | None, threads: int, part: str, name: str) -> Found:
    """Do a task in this process, whose environment is that of its machine."""
    pieces = Pieces(folder / part, JOBS[part], text, threads)
    what, _, margin = name.partition("-")
    if margin:
        pieces, precision = pieces_of_margin(pieces, margin)
        if what == RECORD:
            pieces.write_order(precision=precision)
            return pieces.record()
        # That a replay parts from a run with too small a margin is what is looked for.
        found = pieces.audit()
        return Found(found.said, found.values)
    if what == APART:
        more = [] if text is None else ["--text", str(text)]
        return train_apart(pieces, ["whole", str(folder), part, "--threads", str(threads), *more])
    return {ORDER: pieces.write_order, RECORD: pieces.record, AUDIT: pieces.audit}[what]()


def main(arguments: Sequence[str]) -> int:
    """Do what is left, and write the page if asked. Ends with 1 if something is not as it should be."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks whole", description=__doc__)
    parser.add_argument("folder", type=Path, help="where orders, runs and results are kept: 15 GB for both trainings")
    parser.add_argument(
        "jobs", nargs="*", metavar="training", help=f"some of {', '.join(JOBS)} (default the first two)"
    )
    parser.add_argument("--text", type=Path, help="a file of text for the language model; made-up tokens otherwise")
    parser.add_argument("--threads", type=int, default=1, help="threads on the CPU (default 1)")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after so many minutes")
    parser.add_argument("--write", type=Path, help=f"write what is there into this page and do nothing: {PAGE}")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--machine", choices=MACHINES, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    folder, text = options.folder.resolve(), options.text and options.text.resolve()
    names = options.jobs or list(JOBS)[:2]
    if unknown := [name for name in names if name not in JOBS]:
        parser.error(f"there is no training {unknown[0]!r}; there are {', '.join(JOBS)}")
    if options.child:
        serve(partial(perform, folder, text, options.threads))
        return 0
    if options.machine is not None:
        pieces = Pieces(folder / names[0], JOBS[names[0]], text, options.threads)
        train_one(pieces, options.machine, sys.stdin, sys.stdout)
        return 0
    store = Store(folder)
    if options.write is not None:
        write_page(options.write, store)
        print(f"Wrote {options.write}.")
        return 0
    text_name = "made-up tokens" if text is None else text.name
    store.claim({"origin": origin(options.threads), "text": text_name}, same=("text",))
    more = [] if text is None else ["--text", str(text)]
    child = command("whole", str(folder), "--child", "--threads", str(options.threads), *more)
    summary = run(tasks(names), store, child, minutes=options.minutes, say=partial(print, flush=True))
    for sentence in summary.strange:
        print(f"NOT EXPECTED: {sentence}")
    return bool(summary.strange)

"""Tells lies about all that is handed on: ``python -m tests.lies --lies 12000``; exits with 1 if one is believed.

Each field by itself first, then pairs by chance. What was told is kept in ``--results``; the same command goes on.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

# As pytest has it; and one thread, since a process that has several cannot be copied.
sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ["OMP_NUM_THREADS"] = "1"

import counterfoil
from counterfoil.base.wholefiles import write_whole
from lies.campaign import Told, all_lies, tell
from lies.subject import Subject
from lies.subjects import Liar
from lies.table import MARKER, table, write_table

_SUBJECTS: dict[str, Subject] = {}


def _tell(lie: tuple[str, tuple[str, ...], int]) -> Told:
    name, fields, number = lie
    return tell(_SUBJECTS[name], fields, number)


def main() -> int:
    """Tell the lies that the arguments ask for; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.lies", description=__doc__)
    parser.add_argument("--lies", type=int, default=12_000, help="lies in all (default: 12,000)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed tells the same lies (default: 1)")
    parser.add_argument("--only", default="", help="only subjects whose name holds this text")
    parser.add_argument("--results", type=Path, help="where what was told is kept, a line each; it goes on from there")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="processes (default: all cores)")
    parser.add_argument("--write", type=Path, help=f"a page whose part '{MARKER}' is replaced")
    arguments = parser.parse_args()
    found: dict[str, Told] = {}
    if arguments.results is not None and arguments.results.exists():
        for line in arguments.results.read_text().splitlines():
            told = Told(**json.loads(line))
            found[told.key] = told
    with tempfile.TemporaryDirectory() as folder:
        for subject in Liar(Path(folder)).subjects():
            if arguments.only in subject.name:
                _SUBJECTS[subject.name] = subject
        if not _SUBJECTS:
            parser.error(f"no subject's name holds {arguments.only!r}")
        lies = all_lies(tuple(_SUBJECTS.values()), arguments.lies, arguments.seed)
        waiting = [lie for lie in lies if Told.name(*lie) not in found]
        start, done = time.monotonic(), 0
        keep = arguments.results.open("a") if arguments.results is not None else None
        # A process that crashes ends the campaign with an error, which a multiprocessing.Pool would wait for for ever.
        with ProcessPoolExecutor(arguments.processes, multiprocessing.get_context("fork")) as pool:
            for told in pool.map(_tell, waiting, chunksize=8):
                found[told.key] = told
                done += 1
                if keep is not None:
                    keep.write(json.dumps(vars(told)) + "\n")
                if told.wrong:
                    print(f"\nBELIEVED: {told.subject}: {', '.join(told.fields)}: {told.outcome} (lie {told.number})")
                if sys.stderr.isatty():
                    left = (time.monotonic() - start) / done * (len(waiting) - done)
                    print(
                        f"\r{done:,} of {len(waiting):,} lies, {left / 60:.0f} min left \x1b[K", end="", file=sys.stderr
                    )
        if keep is not None:
            keep.close()
    chosen = [found[Told.name(*lie)] for lie in lies]
    wrong = [told for told in chosen if told.wrong]
    title = f"Counterfoil {counterfoil.__version__}, Python {platform.python_version()}, seed {arguments.seed}"
    print(f"{title}: {len(chosen):,} lies, {len(wrong)} believed\n")
    print(Counter(told.outcome for told in chosen))
    if arguments.write is not None:
        page = arguments.write.read_text(encoding="utf-8")
        write_whole(arguments.write, write_table(page, table(chosen, arguments.seed)).encode(), what="the page")
    else:
        print(table(chosen, arguments.seed))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

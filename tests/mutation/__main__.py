"""Tries mutants of the engine: ``python -m tests.mutation --each 20``; goes on where it stopped, and writes the page.

For each mutant the tests that reach its function are run in a fork of a process that has loaded everything. Results
lie in ``tests/mutation/results.jsonl``; what is said of survivors in ``tests/mutation/judged.json``. ``--page`` writes
docs/mutation.md from both, without trying anything.
"""

from __future__ import annotations

import os

# Before torch is loaded: a process that has several threads cannot be copied.
os.environ.update(OMP_NUM_THREADS="1", OMP_WAIT_POLICY="PASSIVE", QT_QPA_PLATFORM="offscreen")

import argparse
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from mutation import page  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("--each", type=int, default=20, help="mutants of each package")
    parser.add_argument("--rooms", nargs="*", default=list(page.ROOMS), help="of these packages only")
    parser.add_argument("--seed", type=int, default=1, help="of their order; more mutants begin with the same ones")
    parser.add_argument("--minutes", type=float, default=60.0, help="no mutant is begun later")
    parser.add_argument("--budget", type=float, default=40.0, help="seconds of tests of a file, as measured")
    parser.add_argument("--patience", type=float, default=300.0, help="seconds after which no more files are asked")
    parser.add_argument("--again", action="store_true", help="try survivors anew, after tests were written for them")
    parser.add_argument("--reach", type=Path, default=HERE.parents[1] / "build" / "reach.jsonl", help="kept coverage")
    parser.add_argument("--page", action="store_true", help="only write docs/mutation.md")
    given = parser.parse_args()
    if given.page:
        page.write()
        return 0
    from mutation import warm
    from mutation.mutants import chosen
    from mutation.trial import Reach, tried

    package = warm.load()
    given.reach.parent.mkdir(parents=True, exist_ok=True)
    reach = Reach(given.reach, package)
    end = time.monotonic() + 60 * given.minutes
    known = page.results()
    for mutant in chosen(package, given.rooms, given.each, given.seed, page.LEFT_OUT):
        old = known.get(mutant.key)
        if old is not None and not (given.again and old["outcome"] != "killed"):
            continue
        if time.monotonic() > end:
            break
        result = tried(mutant, reach, package, given.budget, given.patience)
        page.keep(result)
        print(f"{result['outcome']:10} {result['seconds']:6.1f} s  {mutant.path} {mutant.function}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

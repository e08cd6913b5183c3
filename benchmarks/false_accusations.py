"""``python -m benchmarks.false_accusations``: honest runs, replayed on many machines; nobody may be accused.

What is recorded and replayed says :mod:`counterfoil.benchmark.false_accusations`. All of it takes long, so it can be
stopped and cut: ``--results FILE`` keeps each replay as it ends and goes on after those that the file has;
``--part 1/4`` does a quarter. Parts may run at the same time and into one file. What is written to the page
(``--write``) is counted from the whole file.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from counterfoil.benchmark.false_accusations import STEPS, append_result, measure, read_results, summary, units
from counterfoil.benchmark.honest_jobs import JOBS
from counterfoil.benchmark.markers import MEASURED, write_between


def _part(text: str) -> tuple[int, int]:
    part, parts = (int(number) for number in text.split("/"))
    if not 1 <= part <= parts:
        raise ValueError(text)
    return part, parts


def main() -> None:
    """Measure, print the table, and write it into a page if asked. Ends with 1 if anybody was accused or doubted."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.false_accusations", description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS, help=f"steps of each job (default {STEPS})")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS), help="which jobs (default all)")
    parser.add_argument("--results", type=Path, help="keep results in this file, and go on after those that it has")
    parser.add_argument("--part", type=_part, default=(1, 1), help="which part of how many, for instance 1/4")
    parser.add_argument("--write", type=Path, help="the page to write into, between its markers")
    options = parser.parse_args()
    part, parts = options.part
    found = read_results(options.results) if options.results else []
    keys = {(one.job, one.trainer, one.machine) for one in found}
    for one in measure(units(options.jobs)[part - 1 :: parts], options.steps, keys):
        found.append(one)
        if options.results:
            append_result(options.results, one)
        note = "" if one.clean else f" <- {one}"
        trainer = f" by {one.trainer}" if one.trainer else ""
        print(f"{one.job}{trainer}, {one.machine}: {one.outcome}, {one.corrections} corrections{note}", flush=True)
    if options.results:
        found = read_results(options.results)
    command = f"python -m benchmarks.false_accusations --steps {options.steps}"
    text = summary(found, sum(one.seconds for one in found), command)
    print(text)
    if options.write is not None:
        write_between(options.write, MEASURED, text)
    sys.exit(0 if all(one.clean for one in found) else 1)


if __name__ == "__main__":
    main()

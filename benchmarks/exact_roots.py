"""``python -m benchmarks.exact_roots``: runs under exact profiles, recorded and replayed on many machines: one root.

Every job is recorded on this machine and on imitated ones, whose run roots must be equal, and each of these runs is
audited on the machines of :mod:`benchmarks.false_accusations`: every imitation, other numbers of threads, other
instruction sets. It can be stopped and cut as that can: ``--results FILE``, ``--part 1/4``.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import torch

from benchmarks.false_accusations import FOR_IMITATED, RECORDED_ON, Key, Unit, part_of, record_honestly, replay, units
from benchmarks.honest_jobs import EXACT_JOBS
from counterfoil.audit.values.outcome import Outcome
from counterfoil.benchmark.paper import machine_name
from counterfoil.bundle.reader import BundleReader
from counterfoil.signing import open_claim

START, END = "<!-- exact: begin -->", "<!-- exact: end -->"
STEPS = 2


@dataclass(frozen=True)
class Exactly:
    """One audit of a run under an exact profile.

    Attributes:
        job: Name of the job.
        trainer: Which machine the trainer's imitated; empty for this one.
        machine: Name of the auditor's machine.
        outcome: What was concluded.
        steps: Steps replayed.
        root: The run root that the trainer signed.
        log_bytes: Size of the rounding log.
        seconds: How long it took.
    """

    job: str
    trainer: str
    machine: str
    outcome: str
    steps: int
    root: str
    log_bytes: int
    seconds: float


def measure(chosen: Iterable[Unit], steps: int, done: Collection[Key] = ()) -> Iterator[Exactly]:
    """Record runs, and replay each on its machines, but for the replays that are done."""
    for unit in chosen:
        left = [machine for machine in unit.machines if unit.key(machine) not in done]
        if not left:
            continue
        with tempfile.TemporaryDirectory() as folder:
            order, run = record_honestly(Path(folder), unit.job, steps, unit.trainer)
            with BundleReader.open(run) as reader:
                root = open_claim(reader.claim()).run_root.hex
                log_bytes = sum(reader.log_size(step) for step in range(1, steps + 1))
            for machine in left:
                begun = time.perf_counter()
                found = replay(unit.job, order, run, machine)
                seconds = round(time.perf_counter() - begun, 2)
                yield Exactly(
                    unit.job, unit.trainer or "", machine.name, found.outcome, found.steps, root, log_bytes, seconds
                )


def faults(found: Sequence[Exactly]) -> list[str]:
    """Return what is wrong: replays that are not VERIFIED, jobs whose runs have several roots, logs."""
    roots: dict[str, set[str]] = defaultdict(set)
    for one in found:
        roots[one.job].add(one.root)
    return [
        *(f"{one.job}: {one.outcome} ({one.trainer} / {one.machine})" for one in found if not _verified(one)),
        *(f"{job}: {len(several)} run roots" for job, several in roots.items() if len(several) > 1),
        *(f"{one.job}: a log of {one.log_bytes} bytes" for one in found if one.log_bytes),
    ]


def _verified(one: Exactly) -> bool:
    return one.outcome == Outcome.VERIFIED.value


def table(found: Sequence[Exactly]) -> str:
    """Return the counts by job as Markdown, with a row for all."""
    groups: dict[str, list[Exactly]] = defaultdict(list)
    for one in found:
        groups[one.job].append(one)
    lines = [
        "| runs of | recordings | run roots | replays | VERIFIED | steps | bytes of log |",
        "|---|---|---|---|---|---|---|",
    ]
    for job, rows in [*groups.items(), ("**all**", list(found))]:
        recordings = {(one.job, one.trainer): one.log_bytes for one in rows}
        numbers = (
            len(recordings), len({one.root for one in rows}), len(rows), sum(map(_verified, rows)),
            sum(one.steps for one in rows), sum(recordings.values()),
        )  # fmt: skip
        lines.append(f"| {job} | {' | '.join(f'{number:,}' for number in numbers)} |")
    return "\n".join(lines)


def summary(found: Sequence[Exactly], steps: int) -> str:
    """Return the measured part of the page."""
    origin = (
        f"Measured on {datetime.now(UTC).date().isoformat()} by `python -m benchmarks.exact_roots --steps {steps}` in "
        f"{sum(one.seconds for one in found):.0f} s on {machine_name('cpu')}; torch {torch.__version__}, Python "
        f"{platform.python_version()}."
    )
    names = ", ".join(dict.fromkeys(one.machine for one in found))
    where = (
        f"Machines: {names}. Runs were recorded on this machine and replayed on all of these; and on machines imitated "
        f"by {' and '.join(f'`{name}`' for name in RECORDED_ON[1:])}, and replayed on {len(FOR_IMITATED)} of these."
    )
    wrong = faults(found)
    verified = f"{sum(map(_verified, found)):,} of {len(found):,} replays: VERIFIED."
    result = "\n".join(wrong) if wrong else f"{verified} All recordings of a job have one run root."
    return "\n\n".join([origin, table(found), where, result])


def read_results(file: Path) -> list[Exactly]:
    """Return the replays that a file of results has, in the order of the jobs."""
    if not file.exists():
        return []
    found = [Exactly(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]
    order = {job: number for number, job in enumerate(EXACT_JOBS)}
    return sorted(found, key=lambda one: order[one.job])


def main() -> None:
    """Measure, print the table, and write it into a page if asked. Ends with 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exact_roots", description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS, help=f"steps of each job (default {STEPS})")
    parser.add_argument("--jobs", nargs="+", choices=EXACT_JOBS, default=list(EXACT_JOBS), help="default all")
    parser.add_argument("--results", type=Path, help="keep results in this file, and go on after those that it has")
    parser.add_argument("--part", type=part_of, default=(1, 1), help="which part of how many, for instance 1/4")
    parser.add_argument("--write", type=Path, help="the page to write into, between its markers")
    options = parser.parse_args()
    part, parts = options.part
    found = read_results(options.results) if options.results else []
    keys = {(one.job, one.trainer, one.machine) for one in found}
    for one in measure(units(options.jobs)[part - 1 :: parts], options.steps, keys):
        found.append(one)
        if options.results:
            with options.results.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(asdict(one)) + "\n")
        by = f" by {one.trainer}" if one.trainer else ""
        print(f"{one.job}{by}, {one.machine}: {one.outcome}, {one.root[:12]}, {one.seconds} s", flush=True)
    if options.results:
        found = read_results(options.results)
    text = summary(found, options.steps)
    print(text)
    if options.write is not None:
        before, rest = options.write.read_text(encoding="utf-8").split(START)
        _, after = rest.split(END)
        options.write.write_text(f"{before}{START}\n{text}\n{END}{after}", encoding="utf-8")
    sys.exit(1 if faults(found) else 0)


if __name__ == "__main__":
    main()

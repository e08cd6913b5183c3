"""``python -m benchmarks false-accusations``: honest runs, replayed on many machines; nobody may be accused.

Every job is recorded on this machine and on imitated ones, signed, and audited from the files: under every imitation of
other hardware (:mod:`counterfoil.arithmetic.compute.perturbed`), on other numbers of threads, with other instruction
sets (in a process of its own, since libraries choose theirs at start), and on a GPU where there is one.

All of it takes long, so it can be stopped and cut: ``--results FILE`` keeps each replay as it ends and goes on after
those that the file has; ``--part 1/4`` does a quarter. Parts may run at the same time and into one file. What is
written to the page (``--write``) is counted from the whole file.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import torch

from benchmarks.honest_jobs import JOBS
from benchmarks.imitations import IMITATIONS, imitated
from benchmarks.pages import MEASURED, machine_name, write_between
from benchmarks.programs import command, environment
from counterfoil.audit.session import run_audit
from counterfoil.audit.values.events import AuditFinished
from counterfoil.audit.values.outcome import Outcome
from counterfoil.audit.values.report import AuditReport
from counterfoil.audit.values.request import AuditRequest
from counterfoil.signing.keys import generate_key, load_private_key
from counterfoil.training.recorder import record

STEPS = 8
"""Steps of each job."""
RECORDED_ON = (None, "rewritten", "rewritten-1", IMITATIONS[-1])
"""The trainer's machine: this one, or imitated ones."""
FOR_IMITATED = (
    "this machine, 1 thread", "4 threads", "reversed", "split", "jitter", "rewritten", "rewritten-1", "shuffled-1",
    "shuffled-3", "split-8", "jitter-1", "shuffled-5+split-4+jitter-3", "reversed+rewritten", IMITATIONS[-1],
)  # fmt: skip
"""On which machines the runs of imitated trainers are replayed: what differs is who follows whose log."""
INSTRUCTION_SETS: Mapping[str, Mapping[str, str]] = {
    "no vector instructions": {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"},
    "SSE4.2 in matrix products": {"MKL_ENABLE_INSTRUCTIONS": "SSE4_2"},
    "AVX2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"},
}
"""Environments of a process; a library that knows none of its names goes on as before."""


@dataclass(frozen=True)
class Machine:
    """A machine to replay on.

    Attributes:
        name: Its name in the table.
        perturbation: Which hardware it imitates.
        threads: Threads on the CPU.
        device: ``cpu`` or ``cuda:0``.
        instruction_set: Key of :data:`INSTRUCTION_SETS`; needs a process of its own.
    """

    name: str
    perturbation: str | None = None
    threads: int = 1
    device: str = "cpu"
    instruction_set: str | None = None


@dataclass(frozen=True)
class Replay:
    """One audit of an honest run.

    Attributes:
        job: Name of the job.
        trainer: Which machine the trainer's imitated; empty for this one.
        machine: Name of the auditor's machine.
        outcome: What was concluded; anything but VERIFIED accuses or doubts an honest trainer.
        steps: Steps replayed.
        values: Values rounded.
        entries: Log entries.
        corrections: Directions taken from the log.
        contradictions: Contradictions of the log.
        omissions: Omissions of the log.
        disputed: Steps that came out different.
        steerable: Entries where honest hardware agrees on the direction.
        steered: Entries among these whose direction differed.
        seconds: How long it took.
    """

    job: str
    trainer: str
    machine: str
    outcome: str
    steps: int
    values: int
    entries: int
    corrections: int
    contradictions: int
    omissions: int
    disputed: int
    steerable: int
    steered: int
    seconds: float = 0.0

    @property
    def clean(self) -> bool:
        """Whether nobody is accused or doubted."""
        return self.outcome == Outcome.VERIFIED.value and not (self.contradictions or self.omissions or self.disputed)


def machines() -> tuple[Machine, ...]:
    """Return the machines that this one can be or imitate."""
    found = [Machine("this machine, 1 thread")]
    found += [Machine(f"{threads} threads", threads=threads) for threads in (2, 4)]
    found += [Machine(name, perturbation=name) for name in IMITATIONS]
    found += [Machine(name, instruction_set=name) for name in INSTRUCTION_SETS]
    if torch.cuda.is_available():
        found.append(Machine("cuda:0", device="cuda:0"))
        found.append(Machine("cuda:0, reversed+jitter", device="cuda:0", perturbation="reversed+jitter"))
    return tuple(found)


def record_honestly(
    folder: Path, job: str, steps: int, perturbation: str | None = None, device: str = "cpu"
) -> tuple[Path, Path]:
    """Order and record a job; returns the order and the run."""
    key_file, order, run = folder / "trainer.pem", folder / "job.cfoil", folder / "run.cfoil"
    generate_key(key_file, None)
    JOBS[job](steps).write(order, trial=False)
    key = load_private_key(key_file, None)
    for _ in record(order, run, key, device=device, threads=1, machines=imitated(perturbation)):
        pass
    return order, run


def replay(job: str, order: Path, run: Path, machine: Machine) -> Replay:
    """Audit a run on a machine."""
    if machine.instruction_set is not None:
        return _replay_in_a_process(job, order, run, machine)
    request = AuditRequest(run, order, device=machine.device, threads=machine.threads)
    *_, last = run_audit(request, machines=imitated(machine.perturbation))
    assert isinstance(last, AuditFinished)
    return _account(job, machine, last.report)


def _account(job: str, machine: Machine, report: AuditReport) -> Replay:
    steering = report.steering
    return Replay(
        job=job,
        trainer="",
        machine=machine.name,
        outcome=report.outcome.value,
        steps=report.steps_replayed,
        values=report.rounded_values,
        entries=report.log_entries,
        corrections=report.corrections,
        contradictions=report.contradictions,
        omissions=report.omissions,
        disputed=len(report.mismatched_steps),
        steerable=steering.steerable if steering else 0,
        steered=steering.steered if steering else 0,
    )


def _replay_in_a_process(job: str, order: Path, run: Path, machine: Machine) -> Replay:
    assert machine.instruction_set is not None
    child = command("false-accusations", "--child", job, str(order), str(run))
    settings = environment(**INSTRUCTION_SETS[machine.instruction_set])
    done = subprocess.run(child, env=settings, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"The replay of {job} with {machine.name} failed:\n{done.stderr}")
    return Replay(**{**json.loads(done.stdout), "machine": machine.name})


Key = tuple[str, str, str]
"""Job, trainer and machine."""


@dataclass(frozen=True)
class Unit:
    """A run, and the machines that it is replayed on.

    Attributes:
        job: Name of the job.
        trainer: Which machine the trainer's imitates; None for this one.
        machines: Where it is replayed.
    """

    job: str
    trainer: str | None
    machines: tuple[Machine, ...]

    def key(self, machine: Machine) -> Key:
        """What tells its replay on a machine from all others."""
        return self.job, self.trainer or "", machine.name


def units(jobs: Iterable[str]) -> list[Unit]:
    """Return every run that is to be recorded, with where it is replayed."""
    every = machines()
    some = tuple(machine for machine in every if machine.name in FOR_IMITATED or machine.device != "cpu")
    return [Unit(job, trainer, every if trainer is None else some) for job in jobs for trainer in RECORDED_ON]


def measure(chosen: Iterable[Unit], steps: int, done: Collection[Key] = ()) -> Iterator[Replay]:
    """Record runs honestly, and replay each on its machines, but for the replays that are done."""
    for unit in chosen:
        left = [machine for machine in unit.machines if unit.key(machine) not in done]
        if not left:
            continue
        with tempfile.TemporaryDirectory() as folder:
            order, run = record_honestly(Path(folder), unit.job, steps, unit.trainer)
            for machine in left:
                begun = time.perf_counter()
                found = replay(unit.job, order, run, machine)
                yield replace(found, trainer=unit.trainer or "", seconds=round(time.perf_counter() - begun, 2))


def read_results(file: Path) -> list[Replay]:
    """Return the replays that a file of results has, in the order of the jobs."""
    if not file.exists():
        return []
    found = [Replay(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]
    order = {job: number for number, job in enumerate(JOBS)}
    return sorted(found, key=lambda one: order[one.job])


def append_result(file: Path, found: Replay) -> None:
    """Add a replay to a file of results; a short line is written whole, whoever else writes."""
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(asdict(found)) + "\n")


def table(found: Sequence[Replay]) -> str:
    """Return the counts by job as Markdown, with a row for all."""
    groups: dict[str, list[Replay]] = defaultdict(list)
    for one in found:
        groups[one.job].append(one)
    groups["**all**"] = list(found)
    lines = [
        "| honest runs of | replays | that needed the log | steps | values rounded | log entries | corrections "
        "| steered of steerable | contradictions | omissions | disputes |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for job, rows in groups.items():
        sums = [sum(getattr(row, name) for row in rows) for name in ("steps", "values", "entries", "corrections")]
        bad = [sum(getattr(row, name) for row in rows) for name in ("contradictions", "omissions", "disputed")]
        steered = f"{sum(row.steered for row in rows):,} of {sum(row.steerable for row in rows):,}"
        needed = sum(row.corrections > 0 for row in rows)
        numbers = [f"{len(rows):,}", f"{needed:,}", *(f"{n:,}" for n in sums), steered, *(f"{n:,}" for n in bad)]
        lines.append(f"| {job} | {' | '.join(numbers)} |")
    return "\n".join(lines)


def summary(found: Sequence[Replay], seconds: float, command: str) -> str:
    """Return the measured part of the page: where, when, on which machines, the table, and what it comes to."""
    origin = (
        f"Measured on {datetime.now(UTC).date().isoformat()} by `{command}` in {seconds:.0f} s on "
        f"{machine_name('cpu')}; torch {torch.__version__}, Python {platform.python_version()}."
    )
    names = ", ".join(dict.fromkeys(row.machine for row in found))
    where = (
        f"Machines: {names}. Runs were recorded on this machine and replayed on all of these; and on machines imitated "
        f"by {' and '.join(f'`{name}`' for name in RECORDED_ON[1:])}, and replayed on {len(FOR_IMITATED)} of these."
        f"{'' if 'cuda' in names else ' No GPU was at hand.'}"
    )
    clean = sum(row.clean for row in found)
    result = (
        f"{clean:,} of {len(found):,} replays: VERIFIED, with no contradiction and no omission. {_most_steered(found)}"
    )
    return "\n\n".join([origin, table(found), where, result])


def _most_steered(found: Sequence[Replay]) -> str:
    share, worst = max(((row.steered / row.steerable, row) for row in found if row.steerable), key=lambda pair: pair[0])
    if not worst.steered:
        return "Not one entry was steered."
    return (
        f"The largest share of steered entries in one replay is {share:.2%}, {worst.steered} of {worst.steerable:,} "
        f"({worst.job}, {worst.machine})."
    )


def _child(job: str, order: str, run: str) -> None:
    """Replay a run in this process as it is, and print the account as JSON."""
    print(json.dumps(asdict(replay(job, Path(order), Path(run), Machine("a process")))))


def _part(text: str) -> tuple[int, int]:
    part, parts = (int(number) for number in text.split("/"))
    if not 1 <= part <= parts:
        raise ValueError(text)
    return part, parts


def main(arguments: Sequence[str]) -> int:
    """Measure, print the table, and write it into a page if asked. Ends with 1 if anybody was accused or doubted."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks false-accusations", description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS, help=f"steps of each job (default {STEPS})")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS), help="which jobs (default all)")
    parser.add_argument("--results", type=Path, help="keep results in this file, and go on after those that it has")
    parser.add_argument("--part", type=_part, default=(1, 1), help="which part of how many, for instance 1/4")
    parser.add_argument("--write", type=Path, help="the page to write into, between its markers")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        _child(*options.child)
        return 0
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
    command = f"python -m benchmarks false-accusations --steps {options.steps}"
    text = summary(found, sum(one.seconds for one in found), command)
    print(text)
    if options.write is not None:
        write_between(options.write, MEASURED, text)
    return 0 if all(one.clean for one in found) else 1

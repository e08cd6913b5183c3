"""``python -m benchmarks false-accusations``: honest runs, replayed on many machines; nobody may be accused.

Every job is recorded on this machine and on imitated ones, signed, and audited from the files: under every imitation of
other hardware (:mod:`counterfoil_core.arithmetic.otherwise.perturbation`), on other numbers of threads, with other
instruction sets (in a process of its own, since libraries choose theirs at start), and on a GPU where there is one.

All of it takes long: the folder keeps runs and each replay as it ends (:mod:`benchmarks.campaign`), and what is done is
not done again. What is written to the page (``--write``) is counted from the whole folder.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import torch

from benchmarks.campaign.process import serve
from benchmarks.campaign.runner import Say, run as run_tasks
from benchmarks.campaign.store import Store
from benchmarks.campaign.task import Ended, Found, Task, slug
from benchmarks.honest_jobs import JOBS
from benchmarks.imitations import IMITATIONS, imitated
from benchmarks.pages import MEASURED, machine_name, tabulated, write_between
from benchmarks.programs import command
from benchmarks.sessions import audited, recorded_steps
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.report import AuditReport
from counterfoil_core.values.request import AuditRequest

PART = "replays"
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
    """A machine to replay on."""

    name: str  #: Its name in the table.
    perturbation: str | None = None  #: Which hardware it imitates.
    threads: int = 1  #: Threads on the CPU.
    device: str = "cpu"  #: ``cpu`` or ``cuda:0``.
    instruction_set: str | None = None  #: Key of :data:`INSTRUCTION_SETS`; needs a process of its own.


@dataclass(frozen=True)
class Replay:
    """One audit of an honest run."""

    job: str  #: Name of the job.
    trainer: str  #: Which machine the trainer's imitated; empty for this one.
    machine: str  #: Name of the auditor's machine.
    outcome: str  #: What was concluded; anything but VERIFIED accuses or doubts an honest trainer.
    steps: int  #: Steps replayed.
    values: int  #: Values rounded.
    entries: int  #: Log entries.
    corrections: int  #: Directions taken from the log.
    contradictions: int  #: Contradictions of the log.
    omissions: int  #: Omissions of the log.
    disputed: int  #: Steps that came out different.
    steerable: int  #: Entries where honest hardware agrees on the direction.
    steered: int  #: Entries among these whose direction differed.
    seconds: float = 0.0  #: How long it took.

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
    """Order and record a job in a folder, unless it has the run; returns the order and the run."""
    order, run = folder / "job.cfoil", folder / "run.cfoil"
    if not run.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for _ in recorded_steps(folder, JOBS[job](steps), device=device, threads=1, machines=imitated(perturbation)):
            pass
    return order, run


def replay(job: str, order: Path, run: Path, machine: Machine) -> Replay:
    """Audit a run on a machine; what its instruction set asks for is in the environment of this process."""
    request = AuditRequest(run, order, device=machine.device, threads=machine.threads)
    return _account(job, machine, audited(request, machines=imitated(machine.perturbation)).report)


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


@dataclass(frozen=True)
class Planned:
    """A replay that is to be done: of a job, recorded by a trainer's machine (None for this one), on a machine."""

    job: str
    trainer: str | None
    machine: Machine

    @property
    def run(self) -> str:
        """The run, as a part of a file name."""
        return f"{slug(self.job)}.{slug(self.trainer or 'this machine')}"

    @property
    def task(self) -> Task:
        """What is to be done."""
        variables = INSTRUCTION_SETS.get(self.machine.instruction_set or "", {})
        return Task(PART, f"{self.run}.{slug(self.machine.name)}", 10, 900, variables=variables)


def plan(jobs: Iterable[str]) -> list[Planned]:
    """Return every replay of some jobs."""
    every = machines()
    some = tuple(machine for machine in every if machine.name in FOR_IMITATED or machine.device != "cpu")
    return [
        Planned(job, trainer, machine)
        for job in jobs
        for trainer in RECORDED_ON
        for machine in (every if trainer is None else some)
    ]


def perform(folder: Path, _part: str, name: str) -> Found:
    """Do the replay of a task; its run is in the folder."""
    one = next(planned for planned in plan(JOBS) if planned.task.name == name)
    kept = folder / "runs" / one.run
    begun = time.perf_counter()
    found = replay(one.job, kept / "job.cfoil", kept / "run.cfoil", one.machine)
    found = replace(found, trainer=one.trainer or "", seconds=round(time.perf_counter() - begun, 2))
    said = f"{found.outcome}, {found.corrections} corrections"
    return Found(said, asdict(found), () if found.clean else (str(found),))


def measure(folder: Path, wanted: Sequence[Planned], steps: int, workers: int = 1, say: Say = print) -> list[Replay]:
    """Do what is left of some replays, and return every one that was done, in the order of the jobs.

    Raises:
        DataError: The folder's runs have another number of steps.
    """
    store = Store(folder)
    store.claim({"steps": str(steps)}, same=("steps",))
    before = store.results()
    for job, trainer, run in dict.fromkeys((o.job, o.trainer, o.run) for o in wanted if o.task.key not in before):
        record_honestly(folder / "runs" / run, job, steps, trainer)
    child = command("false-accusations", "--folder", str(folder), "--child")
    run_tasks([one.task for one in wanted], store, child, workers=workers, say=say)
    found = [Replay(**one.values) for one in store.results().values() if one.outcome is Ended.DONE]
    return sorted(found, key=lambda one: list(JOBS).index(one.job))


def table(found: Sequence[Replay]) -> str:
    """Return the counts by job as Markdown, with a row for all."""
    groups: dict[str, list[Replay]] = defaultdict(list)
    for one in found:
        groups[one.job].append(one)
    groups["**all**"] = list(found)

    def counts(name: str) -> Callable[[str], str]:
        return lambda job: f"{sum(getattr(row, name) for row in groups[job]):,}"

    columns: dict[str, Callable[[str], object]] = {
        "honest runs of": str,
        "replays": lambda job: f"{len(groups[job]):,}",
        "that needed the log": lambda job: f"{sum(row.corrections > 0 for row in groups[job]):,}",
        "steps": counts("steps"),
        "values rounded": counts("values"),
        "log entries": counts("entries"),
        "corrections": counts("corrections"),
        "steered of steerable": lambda job: f"{counts('steered')(job)} of {counts('steerable')(job)}",
        "contradictions": counts("contradictions"),
        "omissions": counts("omissions"),
        "disputes": counts("disputed"),
    }
    return tabulated(groups, columns)


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
    worst = max((row for row in found if row.steered), key=lambda row: row.steered / row.steerable, default=None)
    if worst is None:
        return "Not one entry was steered."
    return (
        f"The largest share of steered entries in one replay is {worst.steered / worst.steerable:.2%}, {worst.steered} "
        f"of {worst.steerable:,} ({worst.job}, {worst.machine})."
    )


def main(arguments: Sequence[str]) -> int:
    """Measure, print the table, and write it into a page if asked. Ends with 1 if anybody was accused or doubted."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks false-accusations", description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS, help=f"steps of each job (default {STEPS})")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS), help="which jobs (default all)")
    parser.add_argument("--folder", type=Path, default=Path("bench-results/honest"), help="what is done (%(default)s)")
    parser.add_argument("--workers", type=int, default=1, help="processes at a time (default 1)")
    parser.add_argument("--write", type=Path, help="the page to write into, between its markers")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    folder = options.folder.resolve()
    if options.child:
        serve(partial(perform, folder))
        return 0
    found = measure(folder, plan(options.jobs), options.steps, options.workers, partial(print, flush=True))
    command_line = f"python -m benchmarks false-accusations --steps {options.steps}"
    text = summary(found, sum(one.seconds for one in found), command_line)
    print(text)
    if options.write is not None:
        write_between(options.write, MEASURED, text)
    return 0 if all(one.clean for one in found) else 1

"""Honest runs, replayed on many machines that this one can be: ``false-accusations`` and ``exact-replays``.

Every job is recorded on this machine, or on an imitated one, signed, and audited from the files: under every imitation
of other hardware (:mod:`counterfoil_core.arithmetic.otherwise.perturbation`), on other numbers of threads, with other
instruction sets (in a process of its own, since libraries choose theirs at start), in every form of exact products, and
on a GPU where there is one. Nobody may be accused; an exact run must give the leaf of every step. The control of the
latter are the same jobs in ordinary float32.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import torch

from benchmarks.honest_jobs import JOBS, ORDERS
from benchmarks.imitations import IMITATIONS, INSTRUCTION_SETS, SETTINGS, imitated
from benchmarks.measure import (
    Benchmark,
    Cell,
    LeftOutError,
    Results,
    Sections,
    Values,
    argument,
    figures,
    on_page,
    origins,
    slug,
    some_of,
)
from benchmarks.pages import tabulated
from benchmarks.sessions import audit, recorded_steps, train_unrounded
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.kernels.exact.forms import Profile, sound_forms
from counterfoil_core.kernels.exact.products import Form
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.request import AuditRequest

RECORDED_ON = (None, "rewritten", "rewritten-1", IMITATIONS[-1])
"""The trainer's machine: this one, or imitated ones."""
FOR_IMITATED = (
    "this machine, 1 thread", "4 threads", "reversed", "split", "jitter", "rewritten", "rewritten-1", "shuffled-1",
    "shuffled-3", "split-8", "jitter-1", "shuffled-5+split-4+jitter-3", "reversed+rewritten", IMITATIONS[-1],
)  # fmt: skip
"""On which machines the runs of imitated trainers are replayed: what differs is who follows whose log."""
CONTROL = "float64-24"
"""The order whose program is trained ordinarily: that of an exact profile is decomposed."""
EXACT = ("exact-20", "exact-13")
FORMS = (Form.FLOAT64, Form.FLOAT32, Form.INT8, Form.KARATSUBA)


@dataclass(frozen=True)
class Machine:
    """A machine to replay on."""

    name: str  #: Its name in the table.
    perturbation: str | None = None  #: Which hardware it imitates.
    threads: int = 1  #: Threads on the CPU.
    device: str = "cpu"  #: ``cpu`` or ``cuda:0``.
    variables: Mapping[str, str] = field(default_factory=dict)  #: What holds its libraries back.
    form: Form | None = None  #: The only form of its products.


@dataclass(frozen=True)
class Replay:
    """A replay that is to be done."""

    job: str  #: Name of the job.
    trainer: str | None  #: The trainer's machine, None for this one.
    machine: Machine  #: The auditor's.

    @property
    def run(self) -> str:
        """The run, as a part of a file name."""
        return f"{slug(self.job)}.{slug(self.trainer or 'this machine')}"

    @property
    def cell(self) -> Cell:
        """What is measured."""
        return Cell(f"{self.run}.{slug(self.machine.name)}", 10, 900, variables=self.machine.variables)


def machines() -> tuple[Machine, ...]:
    """Return the machines that this one can be or imitate."""
    found = [Machine("this machine, 1 thread"), *(Machine(f"{count} threads", threads=count) for count in (2, 4))]
    found += [Machine(name, perturbation=name) for name in IMITATIONS]
    found += [Machine(name, variables=variables) for name, variables in INSTRUCTION_SETS.items()]
    if torch.cuda.is_available():
        found.append(Machine("cuda:0", device="cuda:0"))
        found.append(Machine("cuda:0, reversed+jitter", device="cuda:0", perturbation="reversed+jitter"))
    return tuple(found)


def plan(jobs: Iterable[str]) -> list[Replay]:
    """Return every replay of some jobs."""
    every = machines()
    some = tuple(machine for machine in every if machine.name in FOR_IMITATED or machine.device != "cpu")
    pairs = [(trainer, machine) for trainer in RECORDED_ON for machine in (every if trainer is None else some)]
    return [Replay(job, trainer, machine) for job in jobs for trainer, machine in pairs]


def plan_exact(jobs: Sequence[str]) -> list[Replay]:
    """Return every replay of exact runs: each machine on one thread and on two, in turn over the two profiles."""
    kinds: list[tuple[str, str | None, Form | None]] = [
        ("as it is", None, None),
        *((name, name, None) for name in IMITATIONS),
    ]
    kinds += [(f"products in {form.value}", None, form) for form in FORMS]
    return [
        Replay(
            f"{job}, {profile}",
            None,
            Machine(f"{setting}: {name}", imitation, 1 + (number + turn) % 2, "cpu", held, form),
        )
        for setting, held in SETTINGS.items()
        for job in jobs
        for turn, profile in enumerate(EXACT)
        for number, (name, imitation, form) in enumerate(kinds)
    ]


def record_honestly(
    folder: Path, job: str, steps: int, perturbation: str | None = None, device: str = "cpu"
) -> tuple[Path, Path]:
    """Order and record a job in a folder, unless it has the run; returns the order and the run.

    A job of no such name is one of :data:`benchmarks.honest_jobs.ORDERS` under a profile.
    """
    order, run = folder / "job.cfoil", folder / "run.cfoil"
    if not run.exists():
        folder.mkdir(parents=True, exist_ok=True)
        name, _, profile = job.rpartition(", ")
        draft = JOBS[job](steps) if job in JOBS else ORDERS[name](steps, PROFILES[profile])
        for _ in recorded_steps(folder, draft, device=device, threads=1, machines=imitated(perturbation)):
            pass
    return order, run


def replay(job: str, order: Path, run: Path, machine: Machine) -> Values:
    """Audit a run on a machine; what its libraries are held to is in the environment of this process.

    Raises:
        LeftOutError: This machine has no such form of products.
    """
    if machine.form is not None and machine.form not in sound_forms("cpu"):
        raise LeftOutError("This machine has no such form of products.")
    form, batches = machine.form or Form.FLOAT64, Form.FLOAT32 if machine.form is Form.FLOAT32 else Form.FLOAT64
    only = patch.object(Profile, "on", lambda device, bits: Profile(bits, form, batches, form))
    with nullcontext() if machine.form is None else only:
        request = AuditRequest(run, order, device=machine.device, threads=machine.threads)
        report = audit(request, machines=imitated(machine.perturbation)).report
    steering = report.steering
    found: Values = {
        "job": job, "trainer": "", "machine": machine.name, "outcome": report.outcome.value,
        "steps": report.steps_replayed, "values": report.rounded_values, "entries": report.log_entries,
        "corrections": report.corrections, "contradictions": report.contradictions, "omissions": report.omissions,
        "disputed": len(report.mismatched_steps), "whole": report.steps_replayed == report.steps_recorded,
        "steerable": steering.steerable if steering else 0, "steered": steering.steered if steering else 0,
    }  # fmt: skip
    strange = [] if is_clean(found) else [f"{job} on {machine.name}: {found}"]
    return {**found, "said": f"{found['outcome']}, {found['corrections']} corrections", "strange": strange}


def is_clean(found: Values) -> bool:
    """Whether nobody is accused or doubted."""
    good: bool = found["outcome"] == Outcome.VERIFIED.value
    return good and not (found["contradictions"] or found["omissions"] or found["disputed"])


def _cells(wanted: Sequence[Replay]) -> list[Cell]:
    # Alone, and so before what needs the run.
    runs = dict.fromkeys(one.run for one in wanted)
    return [*(Cell(f"record/{run}", 30, alone=True) for run in runs), *(one.cell for one in wanted)]


def _perform(options: Namespace, key: str, wanted: Sequence[Replay]) -> Values:
    recording = key.removeprefix("record/")
    one = next(one for one in wanted if key in (one.cell.key, f"record/{one.run}"))
    files = record_honestly(options.out / "runs" / one.run, one.job, options.steps, one.trainer)
    return {} if recording != key else {**replay(one.job, *files, one.machine), "trainer": one.trainer or ""}


def _replays(results: Results) -> list[Values]:
    return [one for one in figures(results).values() if "outcome" in one]


# Honest runs, of which nobody may be accused.


def accusation_table(found: Sequence[Values]) -> str:
    """Return the counts by job as Markdown, with a row for all."""
    groups = {job: [one for one in found if one["job"] == job] for job in dict.fromkeys(one["job"] for one in found)}
    groups["**all**"] = list(found)

    def counts(name: str) -> Callable[[str], str]:
        return lambda job: f"{sum(row[name] for row in groups[job]):,}"

    columns: dict[str, str | Callable[[str], object]] = {
        "honest runs of": str,
        "replays": lambda job: f"{len(groups[job]):,}",
        "that needed the log": lambda job: f"{sum(row['corrections'] > 0 for row in groups[job]):,}",
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


def accusation_summary(found: Sequence[Values]) -> str:
    """Say how many replays accuse nobody, and what was steered the most."""
    worst = max(
        (row for row in found if row["steered"]), key=lambda row: row["steered"] / row["steerable"], default=None
    )
    steered = "Not one entry was steered."
    if worst is not None:
        share = f"{worst['steered'] / worst['steerable']:.2%}, {worst['steered']} of {worst['steerable']:,}"
        steered = f"The largest share of steered entries in one replay is {share} ({worst['job']}, {worst['machine']})."
    good = sum(map(is_clean, found))
    return f"{good:,} of {len(found):,} replays: VERIFIED, with no contradiction and no omission. {steered}"


def _accusations(results: Results, options: Namespace) -> Sections:
    found = _replays(results)
    names = ", ".join(dict.fromkeys(row["machine"] for row in found))
    by = f"Measured by `python -m benchmarks false-accusations --steps {options.steps}` on {origins(results)}"
    where = (
        f"Machines: {names}. Runs were recorded on this machine and replayed on all of these; and on machines imitated "
        f"by {' and '.join(f'`{name}`' for name in RECORDED_ON[1:])}, and replayed on {len(FOR_IMITATED)} of these."
        f"{'' if 'cuda' in names else ' No GPU was at hand.'}"
    )
    return on_page("threat-model.md", "measured", by, accusation_table(found), where, accusation_summary(found))


def _wanted(options: Namespace) -> list[Replay]:
    return [one for one in plan(options.jobs or JOBS) if not options.machines or one.machine.name in options.machines]


FALSE_ACCUSATIONS = Benchmark(
    "Honest runs, replayed on many machines; nobody may be accused.",
    lambda options: _cells(_wanted(options)),
    lambda options, key: _perform(options, key, plan(JOBS)),
    _accusations,
    (
        argument("--steps", type=int, default=8, help="steps of each job (default 8)"),
        some_of("--jobs", JOBS),
        some_of("--machines", [machine.name for machine in machines()]),
    ),
    out="bench-results/honest",
    about=lambda options: {"steps": str(options.steps)},
)


# Exact runs, which must come out the same.


def _exact_cells(options: Namespace) -> list[Cell]:
    jobs = options.jobs or list(ORDERS)
    controls = [
        Cell(f"ordinary/{slug(job)}/{setting}/{threads}", 10, 900, variables=held)
        for setting, held in SETTINGS.items()
        for job in jobs
        for threads in (1, 2)
    ]
    orders = [Cell(f"record/{slug(f'{job}, {CONTROL}')}.this-machine", 30, alone=True) for job in jobs]
    return [*orders, *controls, *_cells(plan_exact(jobs))]


def _exact(options: Namespace, key: str) -> Values:
    controls = [Replay(f"{job}, {CONTROL}", None, Machine("")) for job in ORDERS]
    if not key.startswith("ordinary/"):
        found = _perform(options, key, [*controls, *plan_exact(list(ORDERS))])
        return {**found, "said": "not every step"} if found.get("whole") is False else found
    _, job, setting, threads = key.split("/")
    run = next(one.run for one in controls if one.run.startswith(f"{job}-{slug(CONTROL)}."))
    root = train_unrounded(options.out / "runs" / run / "job.cfoil", "cpu", int(threads))
    name = next(name for name in ORDERS if slug(name) == job)
    return {"ordinary": root.hex, "job": name, "setting": setting}


def _exact_table(results: Results, options: Namespace) -> Sections:
    found, controls = _replays(results), [one for one in figures(results).values() if "ordinary" in one]
    jobs = [job for job in ORDERS if any(one["job"].startswith(f"{job}, exact") for one in found)]

    def count(job: str, setting: str) -> str:
        rows = [
            row for row in found if row["job"].startswith(f"{job}, exact") and row["machine"].startswith(f"{setting}: ")
        ]
        return f"{sum(is_clean(row) and row['whole'] for row in rows)} of {len(rows)}" if rows else "-"

    def states(job: str) -> str:
        return str(len({one["ordinary"] for one in controls if one["job"] == job}) or "-")

    columns: dict[str, str | Callable[[str], object]] = {"job": str}
    columns |= {setting: lambda job, setting=setting: count(job, setting) for setting in SETTINGS}  # type: ignore[misc]
    columns["states of ordinary float32"] = states
    good = sum(is_clean(row) and row["whole"] for row in found)
    names = sorted({row["machine"].split(": ", 1)[1] for row in found})
    said = (
        f"Runs under the exact profiles, replayed with the instruction sets below, on one thread and two, as "
        f"{', '.join(names)}. **{good:,} of {len(found):,} replays gave the leaf of every step**, and so the run root; "
        f"{len(plan_exact(list(ORDERS))):,} are planned. The last column is the control: in how many different states "
        "ordinary float32 training of the job ended under the same settings."
    )
    by = f"{origins(results)} `python -m benchmarks exact-replays --steps {options.steps}`."
    return on_page("cross-hardware.md", "replays", by, said, tabulated(jobs, columns))


EXACT_REPLAYS = Benchmark(
    "Exact runs, replayed on every machine that this one can be; each must give the leaf of every step.",
    _exact_cells,
    _exact,
    _exact_table,
    (argument("--steps", type=int, default=2, help="steps of each job (default 2)"), some_of("--jobs", ORDERS)),
    out="bench-results/exact",
    about=lambda options: {"steps": str(options.steps)},
)

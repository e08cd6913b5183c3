"""``python -m benchmarks exact-replays FOLDER``: exact runs, replayed on every machine that this one can be.

Each run is recorded once and replayed with every instruction set of the libraries (in a process of its own, since
libraries choose theirs at start), under every imitation of other hardware, in every form of products that is sound, on
one thread and on two. Every replay must give the leaf of every step. The control: the same jobs in ordinary float32.

FOLDER keeps orders, runs and each replay as it ends (:mod:`benchmarks.campaign`); what is done is not done again.
Counts go to ``--write``, and from there onto the page (``python -m benchmarks cross-hardware page``).
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from benchmarks.campaign.process import serve
from benchmarks.campaign.runner import Say, run
from benchmarks.campaign.store import Store
from benchmarks.campaign.task import Ended, Found, LeftOutError, Task, slug
from benchmarks.cross_hardware.campaign import Campaign, Training
from benchmarks.cross_hardware.ordinary import unrounded
from benchmarks.honest_jobs import ORDERS
from benchmarks.imitations import IMITATIONS, imitated
from benchmarks.pages import machine_name, markdown
from benchmarks.programs import command
from benchmarks.sessions import audited
from counterfoil.base.wholefiles import write_whole
from counterfoil.training.recorder import record
from counterfoil_core.kernels.exact.forms import Profile, sound_forms
from counterfoil_core.kernels.exact.products import Form
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.request import AuditRequest

STEPS = 2
PART = "replays"
PROFILES = ("exact-20", "exact-13")
CONTROL = "float64-24"
"""The order whose program is trained ordinarily: that of an exact profile is decomposed."""
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "as it is": {},
    "AVX-512 without 8-bit dot products": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE"},
    "AVX2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"},
    "SSE4": {
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "MKL_CBWR": "COMPATIBLE",  # MKL takes no other name on processors that are not Intel's
    },
}
"""Environments of a process; a library that knows none of its names goes on as before."""
FORMS = (Form.FLOAT64, Form.FLOAT32, Form.INT8, Form.KARATSUBA)


@dataclass(frozen=True)
class Replay:
    """One replay, or one ordinary training."""

    job: str  #: Name of the job.
    profile: str  #: Name of the precision profile; empty for ordinary training.
    setting: str  #: Key of :data:`SETTINGS`.
    machine: str  #: The imitation, or the form of products; empty for this machine as it is.
    threads: int  #: Threads.
    #: Whether every step gave the trainer's leaf. Of ordinary training: whether it gave the state of the first.
    equal: bool = False
    outcome: str = ""  #: What was concluded, or the state root of ordinary training.
    seconds: float = 0.0  #: Time it took.

    @property
    def name(self) -> str:
        """What tells it from all others, as a part of a file name."""
        parts = (self.job, self.profile or "ordinary", self.setting, self.machine or "as it is", str(self.threads))
        return ".".join(map(slug, parts))


def plan(jobs: Sequence[str]) -> list[Replay]:
    """Return every replay: each machine once on one thread and once on two, in turn over the two profiles."""
    machines = ["", *IMITATIONS, *(f"products in {form.value}" for form in FORMS)]
    replays = [
        Replay(job, profile, setting, machine, 1 + (number + turn) % 2)
        for setting in SETTINGS
        for job in jobs
        for turn, profile in enumerate(PROFILES)
        for number, machine in enumerate(machines)
    ]
    controls = [Replay(job, "", setting, "", threads) for setting in SETTINGS for job in jobs for threads in (1, 2)]
    return [*controls, *replays]


def prepare(campaign: Campaign, jobs: Sequence[str], steps: int) -> None:
    """Order the jobs, and record the runs on this machine."""
    for ordered in campaign.order_all(jobs, (*PROFILES, CONTROL), steps):
        if ordered.refused:
            raise RuntimeError(f"{ordered.job} cannot be ordered under {ordered.profile}: {ordered.refused}")
    for job in jobs:
        for profile in PROFILES:
            training = Training(job, profile)
            path = campaign.run("this", training)
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                for _ in record(campaign.order(training), path, campaign.key, threads=1, fresh=True):
                    pass


def do(campaign: Campaign, replay: Replay) -> Replay | None:
    """Do one replay in this process; None where this machine has no such form of products."""
    begun = time.perf_counter()
    if not replay.profile:
        root = unrounded(campaign.order(Training(replay.job, CONTROL)), "cpu", replay.threads)
        return _done(replay, begun, False, root.hex)
    training, forms = Training(replay.job, replay.profile), {f"products in {form.value}": form for form in FORMS}
    request = AuditRequest(campaign.run("this", training), campaign.order(training), threads=replay.threads)
    form = forms.get(replay.machine)
    if form is not None and form not in sound_forms("cpu"):
        return None
    with nullcontext() if form is None else _only(form):
        imitation = replay.machine if form is None else None
        report = audited(request, machines=imitated(imitation or None)).report
    equal = (
        report.outcome is Outcome.VERIFIED
        and report.steps_replayed == report.steps_recorded
        and not report.mismatched_steps
    )
    return _done(replay, begun, equal, report.outcome.value)


def _only(form: Form) -> AbstractContextManager[object]:
    """Compute products in one form; those of batches have float32 and float64 only."""
    batches = form if form is Form.FLOAT32 else Form.FLOAT64
    return patch.object(Profile, "on", lambda device, bits: Profile(bits, form, batches, form))


def _done(replay: Replay, begun: float, equal: bool, outcome: str) -> Replay:
    seconds = round(time.perf_counter() - begun, 2)
    return replace(replay, equal=equal, outcome=outcome, seconds=seconds)


def tasks(jobs: Sequence[str]) -> list[Task]:
    """Return a task for each replay."""
    return [Task(PART, replay.name, 10, 900, variables=SETTINGS[replay.setting]) for replay in plan(jobs)]


def perform(campaign: Campaign, _part: str, name: str) -> Found:
    """Do the replay of a task.

    Raises:
        LeftOutError: This machine has no such form of products.
    """
    found = do(campaign, next(replay for replay in plan(list(ORDERS)) if replay.name == name))
    if found is None:
        raise LeftOutError("This machine has no such form of products.")
    strange = (f"{found} is not equal",) if found.profile and not found.equal else ()
    return Found(found.outcome, asdict(found), strange)


def measure(campaign: Campaign, wanted: Sequence[Task], steps: int, workers: int, say: Say = print) -> list[Replay]:
    """Do what is left of some tasks, and return every replay that was done.

    Raises:
        DataError: The folder's runs have another number of steps.
    """
    store = Store(campaign.folder / "replays")
    store.claim({"steps": str(steps)}, same=("steps",))
    before = store.results()
    if left := [task for task in wanted if task.key not in before]:
        named = {replay.name: replay.job for replay in plan(list(ORDERS))}
        prepare(campaign, list(dict.fromkeys(named[task.name] for task in left)), steps)
    run(wanted, store, command("exact-replays", str(campaign.folder), "--child"), workers=workers, say=say)
    return [Replay(**one.values) for one in store.results().values() if one.outcome is Ended.DONE]


def summary(done: Sequence[Replay], command: str) -> dict[str, Any]:
    """Return the counts of all replays, as the page needs them."""
    counts: dict[str, dict[str, list[int]]] = {}
    for one in done:
        if one.profile:
            cell = counts.setdefault(one.job, {}).setdefault(one.setting, [0, 0])
            cell[0] += one.equal
            cell[1] += 1
    controls: dict[str, set[str]] = {}
    for one in done:
        if not one.profile:
            controls.setdefault(one.job, set()).add(one.outcome)
    return {
        "about": f"{machine_name('cpu')}; torch {torch.__version__}, Python {platform.python_version()}",
        "command": command,
        "planned": sum(1 for one in plan(list(ORDERS)) if one.profile),
        "date": datetime.now(UTC).date().isoformat(),
        "seconds": round(sum(one.seconds for one in done)),
        "machines": sorted({one.machine or "this machine" for one in done}),
        "counts": counts,
        "controls": {job: len(states) for job, states in controls.items()},
        "unequal": sorted(f"{one.name}: {one.outcome}" for one in done if one.profile and not one.equal),
    }


def section(found: Mapping[str, Any]) -> str:
    """Return the section of the page as Markdown."""
    counts, controls = found["counts"], found["controls"]
    settings = list(dict.fromkeys(setting for row in counts.values() for setting in row))
    cells = [cell for row in counts.values() for cell in row.values()]
    equal, total = (sum(cell[i] for cell in cells) for i in (0, 1))
    rows = [
        [
            job,
            *("{} of {}".format(*row[setting]) if setting in row else "-" for setting in settings),
            _states(controls, job),
        ]
        for job, row in counts.items()
    ]
    heads = ["job", *settings, "states of ordinary float32"]
    unequal = "".join(f"\n- {line}" for line in found["unequal"])
    return (
        f"## Many replays on one machine\n\n{found['about']}, {found['date']}, {found['seconds']:,} s in all: "
        f"`{found['command']}`.\n\nRuns under the exact profiles, replayed with the instruction sets below, on one "
        f"thread and two, as {', '.join(found['machines'])}. **{equal:,} of {total:,} replays gave the leaf of every "
        f"step**, and so the run root; {found['planned']:,} are planned. The last column is the "
        "control: in how many different states ordinary float32 training "
        f"of the job ended under the same settings.\n\n{markdown(heads, rows)}\n{unequal}"
    )


def _states(controls: Mapping[str, int], job: str) -> str:
    return str(controls[job]) if job in controls else "-"


def sections(results: Path) -> str:
    """Return the sections of all machines that are in a folder of results."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(results.glob("replays/*.json"))]
    return "\n".join(map(section, found))


def main(arguments: Sequence[str]) -> int:
    """Do what is left, and count. Ends with 1 if a replay was not equal."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks exact-replays", description=__doc__)
    parser.add_argument("folder", type=Path, help="where orders, runs and results are kept")
    parser.add_argument("--jobs", nargs="+", choices=ORDERS, default=list(ORDERS), help="which jobs (default all)")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"steps of each job (default {STEPS})")
    parser.add_argument("--write", type=Path, help="the file of counts to write, under benchmarks/cross_hardware")
    parser.add_argument("--count", action="store_true", help="only count what is done")
    parser.add_argument("--workers", type=int, default=1, help="processes at a time (default 1)")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    campaign = Campaign(options.folder.resolve())
    if options.child:
        serve(partial(perform, campaign))
        return 0
    wanted = [] if options.count else tasks(options.jobs)
    done = measure(campaign, wanted, options.steps, options.workers, partial(print, flush=True))
    found = summary(done, f"python -m benchmarks exact-replays FOLDER --steps {options.steps}")
    print(section(found))
    if options.write is not None:
        options.write.parent.mkdir(parents=True, exist_ok=True)
        write_whole(options.write, (json.dumps(found, indent=1) + "\n").encode(), what="the counts")
    return bool(found["unequal"])

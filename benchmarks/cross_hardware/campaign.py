"""What the machines of the campaign share: a list of tasks, and a folder with orders, runs, capsules and results."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cross_hardware.results import Ordered, read_part, write_part
from benchmarks.honest_jobs import ORDERS
from benchmarks.sessions import key_in
from counterfoil.base.errors import CounterfoilError
from counterfoil.base.precision import PROFILES
from counterfoil.signing.keys import SigningKey
from counterfoil.training.trial import CoarseGridWarning

STEPS = 3
MEASURED = ("float64-24", "float64-18", "float32-bfloat16", "exact-20", "exact-13")
"""Names of precision profiles; the first one's program is trained ordinarily too."""
TAMPERED = ("digits-cnn",)
"""Jobs of which each machine also records a run with a poisoned batch."""


def slug(name: str) -> str:
    """Return the name of a job as a part of a file name."""
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")


@dataclass(frozen=True)
class Task:
    """A job under a profile, trained honestly or not.

    Attributes:
        job: Name of the job.
        profile: Name of the precision profile.
        tampered: Whether the trainer departs from the order.
    """

    job: str
    profile: str
    tampered: bool = False

    @property
    def order_name(self) -> str:
        """Its order in file names."""
        return f"{slug(self.job)}.{self.profile}"

    @property
    def name(self) -> str:
        """Its run in file names."""
        return f"{self.order_name}.tampered" if self.tampered else self.order_name


def tasks(jobs: Collection[str], profiles: Collection[str]) -> Iterator[Task]:
    """Return the tasks of some jobs and profiles."""
    for job in ORDERS:
        for profile in MEASURED:
            if job in jobs and profile in profiles:
                yield Task(job, profile)
                if job in TAMPERED:
                    yield Task(job, profile, tampered=True)


@dataclass(frozen=True)
class Campaign:
    """The folder."""

    folder: Path

    @property
    def key(self) -> SigningKey:
        """The trainers' key. It protects nothing: everybody who takes part has it."""
        return key_in(self.folder)

    def order(self, task: Task) -> Path:
        """Where the order of a task lies."""
        return self.folder / "orders" / f"{task.order_name}.cfoil"

    def run(self, machine: str, task: Task) -> Path:
        """Where a machine's run lies."""
        return self.folder / "runs" / machine / f"{task.name}.cfoil"

    def capsule(self, machine: str, recorder: str, task: Task) -> Path:
        """Where the capsule that a machine made of a recorder's run lies."""
        return self.folder / "capsules" / machine / recorder / f"{task.name}.cfoil"

    def part(self, *names: str) -> Path:
        """Where the result of a part lies."""
        return self.folder.joinpath("results", *names[:-1], f"{names[-1]}.json")

    def ordered(self, jobs: Collection[str], profiles: Collection[str]) -> list[tuple[Task, str]]:
        """Return the tasks that were ordered, with the order's digest."""
        found = []
        for task in tasks(jobs, profiles):
            part = read_part(self.part("ordered", task.order_name), Ordered)
            if part is not None and part.order:
                found.append((task, part.order))
        return found

    def recorders(self) -> list[str]:
        """Return the machines that left runs."""
        runs = self.folder / "runs"
        return sorted(path.name for path in runs.iterdir()) if runs.exists() else []

    def order_all(self, jobs: Collection[str], profiles: Collection[str], steps: int) -> Iterator[Ordered]:
        """Order what is not ordered; yields each order, and which profile refuses which job."""
        (self.folder / "orders").mkdir(parents=True, exist_ok=True)
        key_in(self.folder)  # before several machines need it
        for task in tasks(jobs, profiles):
            part = self.part("ordered", task.order_name)
            if not part.exists():
                found = self._order(task, steps)
                write_part(part, found)
                yield found

    def _order(self, task: Task, steps: int) -> Ordered:
        try:
            with warnings.catch_warnings():
                # A grid too coarse for the gradients of a job this small is so on every machine.
                warnings.simplefilter("ignore", CoarseGridWarning)
                manifest = ORDERS[task.job](steps, PROFILES[task.profile]).write(self.order(task))
        except CounterfoilError as error:
            return Ordered(task.job, task.profile, "", str(error))
        return Ordered(task.job, task.profile, manifest.digest.hex)

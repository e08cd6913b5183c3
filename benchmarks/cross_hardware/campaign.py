"""What the machines of the campaign share: trainings, and a folder with orders, runs, capsules and results."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks.campaign.task import slug
from benchmarks.cross_hardware.results import Ordered, read_part, write_part
from benchmarks.honest_jobs import ORDERS, Job
from benchmarks.literature_jobs import LITERATURE
from benchmarks.sessions import key_in
from counterfoil.training.trial import CoarseGridWarning
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.signing.keys import SigningKey

STEPS = 3
MEASURED = ("float64-24", "float64-18", "float32-bfloat16", "exact-20", "exact-13")
"""Names of precision profiles; the first one's program is trained ordinarily too."""
JOBS: Mapping[str, Job] = {**ORDERS, **LITERATURE}
"""The recipes and the trainings of the literature: how to order each."""
TAMPERED = ("digits-cnn",)
"""Jobs of which each machine also records a run with a poisoned batch."""


@dataclass(frozen=True)
class Training:
    """A job under a profile, trained honestly or not."""

    job: str  #: Name of the job.
    profile: str  #: Name of the precision profile.
    tampered: bool = False  #: Whether the trainer departs from the order.

    @property
    def order_name(self) -> str:
        """Its order in file names."""
        return f"{slug(self.job)}.{self.profile}"

    @property
    def name(self) -> str:
        """Its run in file names."""
        return f"{self.order_name}.tampered" if self.tampered else self.order_name


def trainings(jobs: Collection[str], profiles: Collection[str]) -> Iterator[Training]:
    """Return the trainings of some jobs and profiles."""
    for job in JOBS:
        for profile in MEASURED:
            if job in jobs and profile in profiles:
                yield Training(job, profile)
                if job in TAMPERED:
                    yield Training(job, profile, tampered=True)


@dataclass(frozen=True)
class Campaign:
    """The folder."""

    folder: Path

    @property
    def key(self) -> SigningKey:
        """The trainers' key. It protects nothing: everybody who takes part has it."""
        return key_in(self.folder)

    def order(self, training: Training) -> Path:
        """Where the order of a training lies."""
        return self.folder / "orders" / f"{training.order_name}.cfoil"

    def run(self, machine: str, training: Training) -> Path:
        """Where a machine's run lies."""
        return self.folder / "runs" / machine / f"{training.name}.cfoil"

    def capsule(self, machine: str, recorder: str, training: Training) -> Path:
        """Where the capsule that a machine made of a recorder's run lies."""
        return self.folder / "capsules" / machine / recorder / f"{training.name}.cfoil"

    def part(self, *names: str) -> Path:
        """Where the result of a part lies."""
        return self.folder.joinpath("results", *names[:-1], f"{names[-1]}.json")

    def ordered(self, jobs: Collection[str], profiles: Collection[str]) -> list[tuple[Training, str]]:
        """Return the trainings that were ordered, with the order's digest."""
        found = []
        for training in trainings(jobs, profiles):
            part = read_part(self.part("ordered", training.order_name), Ordered)
            if part is not None and part.order:
                found.append((training, part.order))
        return found

    def recorders(self) -> list[str]:
        """Return the machines that left runs."""
        runs = self.folder / "runs"
        return sorted(path.name for path in runs.iterdir()) if runs.exists() else []

    def order_all(self, jobs: Collection[str], profiles: Collection[str], steps: int) -> Iterator[Ordered]:
        """Order what is not ordered; yields each order, and which profile refuses which job."""
        (self.folder / "orders").mkdir(parents=True, exist_ok=True)
        key_in(self.folder)  # before several machines need it
        for training in trainings(jobs, profiles):
            part = self.part("ordered", training.order_name)
            if not part.exists():
                found = self._order(training, steps)
                write_part(part, found)
                yield found

    def capture_all(
        self, machine: str, jobs: Collection[str], profiles: Collection[str], steps: int
    ) -> Iterator[Ordered]:
        """Capture the jobs on another machine, for the digests of their orders; yields each that was not there."""
        for training in trainings(jobs, profiles):
            part = self.part(machine, "ordered", training.order_name)
            if not training.tampered and not part.exists():
                found = self._order(training, steps, machine)
                write_part(part, found)
                yield found

    def _order(self, training: Training, steps: int, machine: str = "") -> Ordered:
        torch.manual_seed(0)  # a job may leave its first weights to torch
        try:
            with warnings.catch_warnings():
                # A grid too coarse for the gradients of a job this small is so on every machine.
                warnings.simplefilter("ignore", CoarseGridWarning)
                draft = JOBS[training.job](steps, PROFILES[training.profile])
                manifest = draft.manifest if machine else draft.write(self.order(training))
        except CounterfoilError as error:
            return Ordered(training.job, training.profile, "", str(error), machine)
        return Ordered(training.job, training.profile, manifest.digest.hex, machine=machine)

"""One machine's part of the campaign: it records, trains ordinarily, and audits what others recorded."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import torch

from benchmarks.campaign.task import slug
from benchmarks.cross_hardware.campaign import MEASURED, Campaign, Training
from benchmarks.cross_hardware.ordinary import unrounded
from benchmarks.cross_hardware.results import Machine, Recorded, Replayed, Trained, read_part, write_part
from benchmarks.sessions import audited
from counterfoil.audit.hearings import adjudicate
from counterfoil.bundle.capsulewriter import write_capsule
from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import RecordFinished, StepRecorded
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.arithmetic.selftest import run_selftest
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DeviceError
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.events import AdjudicationFinished
from counterfoil_core.values.request import AuditRequest

_LIBRARIES = re.compile(r"(?:BLAS|LAPACK)_INFO=\w+|Intel\(R\) MKL-DNN v[0-9.]+")
_POISONED = LabelFlip(step=2)
_Ordered = list[tuple[Training, str]]
"""Trainings with the digests of their orders."""


def torch_libraries() -> str:
    """Return which libraries this torch computes products with, as it says itself."""
    return ", ".join(dict.fromkeys(_LIBRARIES.findall(torch.__config__.show())))


@dataclass(frozen=True)
class Worker:
    """A machine at work."""

    campaign: Campaign  #: The folder that machines share.
    machine: str  #: This machine's name.
    about: str  #: What it is, in words.
    device: str = "cpu"  #: ``cpu`` or ``cuda:0``.
    threads: int | None = 1  #: Threads on the CPU; None for torch's choice.
    #: Eager training to do beside the jobs, by name; gives the state root of a model.
    eager: Mapping[str, Callable[[], Digest]] = field(default_factory=dict)

    def selftest(self) -> Machine:
        """Test this machine as each profile does, and keep what was found.

        Raises:
            DeviceError: There is no such device.
        """
        machine = open_machine(self.device, self.threads)
        said, failed = {}, []
        for profile in MEASURED:
            try:
                said[profile] = str(run_selftest(machine, PROFILES[profile]))
            except DeviceError as error:
                said[profile] = f"{error.sentence} {error.detail}".strip()
                failed.append(profile)
        part = Machine(
            self.machine, self.about, self.device, torch_libraries(), said, failed, dict(machine.environment)
        )
        write_part(self.campaign.part(self.machine, "machine"), part)
        return part

    def work(self, ordered: _Ordered) -> Iterator[str]:
        """Do what is not done; yields a sentence for each part."""
        for training, order in ordered:
            yield from self._recorded(training, order)
            for recorder in self.campaign.recorders():
                # Its own honest runs say nothing of another machine; of a tampered one the capsules are compared.
                if recorder != self.machine or training.tampered:
                    yield from self._replayed(recorder, training, order)
        yield from self._trained(ordered)

    def _recorded(self, training: Training, order: str) -> Iterator[str]:
        part = self.campaign.part(self.machine, "recorded", training.name)
        before = read_part(part, Recorded)
        if before is None or before.order != order:
            found = self.record(training, order)
            write_part(part, found)
            yield f"{training.name}: recorded in {found.seconds} s, run root {found.run_root[:16]}"

    def _trained(self, ordered: _Ordered) -> Iterator[str]:
        for training, order in ordered:
            if training.profile == MEASURED[0] and not training.tampered:
                train = partial(unrounded, self.campaign.order(training), self.device, self.threads)
                yield from self._control(training.job, training.name, order, train)
        for name, eager in self.eager.items():
            yield from self._control(name, slug(name), "", eager)

    def _control(self, job: str, name: str, order: str, train: Callable[[], Digest]) -> Iterator[str]:
        part = self.campaign.part(self.machine, "trained", name)
        before = read_part(part, Trained)
        if before is None or before.order != order:
            begun = time.perf_counter()
            root = train()
            write_part(part, Trained(job, order, self.machine, root.hex, round(time.perf_counter() - begun, 2)))
            yield f"{name}: trained in ordinary float32, state root {root.hex[:16]}"

    def _replayed(self, recorder: str, training: Training, order: str) -> Iterator[str]:
        recorded = read_part(self.campaign.part(recorder, "recorded", training.name), Recorded)
        if recorded is None or recorded.order != order:
            return
        part = self.campaign.part(self.machine, "replayed", recorder, training.name)
        before = read_part(part, Replayed)
        if before is None or before.run_root != recorded.run_root:
            found = self.replay(recorder, training, order)
            write_part(part, found)
            note = "" if found.as_expected else f" <- {found}"
            yield f"{training.name} of {recorder}: {found.outcome} in {found.seconds} s{note}"

    def record(self, training: Training, order: str) -> Recorded:
        """Record a run."""
        path, run = self.campaign.order(training), self.campaign.run(self.machine, training)
        run.parent.mkdir(parents=True, exist_ok=True)
        tamper = _POISONED if training.tampered else None
        begun = time.perf_counter()
        events = list(
            record(path, run, self.campaign.key, device=self.device, threads=self.threads, tamper=tamper, fresh=True)
        )
        seconds = round(time.perf_counter() - begun, 2)
        last, steps = events[-1], [event for event in events if isinstance(event, StepRecorded)]
        assert isinstance(last, RecordFinished)
        with BundleReader.open(run) as reader:
            assert reader.manifest.digest.hex == order, "the folder's order is not the one that its result names"
            root = reader.committed_root(reader.extent.steps)
        return Recorded(
            job=training.job,
            profile=training.profile,
            order=order,
            machine=self.machine,
            tampered=training.tampered,
            steps=len(steps),
            run_root=last.run_root.hex,
            state_root=root.hex,
            log_entries=sum(step.log_entries for step in steps),
            log_bytes=sum(step.log_bytes for step in steps),
            seconds=seconds,
        )

    def replay(self, recorder: str, training: Training, order: str) -> Replayed:
        """Audit a run; make the capsule of a dispute, and adjudicate it."""
        path, run = self.campaign.order(training), self.campaign.run(recorder, training)
        begun = time.perf_counter()
        last = audited(AuditRequest(run, path, device=self.device, threads=self.threads))
        seconds = round(time.perf_counter() - begun, 2)
        report = last.report
        assert report.order_digest is not None, report.reason
        assert report.run_root is not None, report.reason
        found = Replayed(
            job=training.job,
            profile=training.profile,
            order=report.order_digest.hex,
            recorder=recorder,
            machine=self.machine,
            tampered=training.tampered,
            run_root=report.run_root.hex,
            outcome=report.outcome.value,
            steps=report.steps_replayed,
            mismatched=len(report.mismatched_steps),
            corrections=report.corrections,
            contradictions=report.contradictions,
            omissions=report.omissions,
            seconds=seconds,
        )
        if last.evidence is None:
            return found
        capsule = self.campaign.capsule(self.machine, recorder, training)
        capsule.parent.mkdir(parents=True, exist_ok=True)
        write_capsule(last.evidence, capsule)
        *_, ruled = adjudicate(capsule, order=path, device=self.device, threads=self.threads)
        assert isinstance(ruled, AdjudicationFinished)
        digest = Digest.of(capsule.read_bytes())
        return replace(found, capsule=digest.hex, adjudicated=ruled.report.outcome.value)

"""Disputes of small runs as capsules, and ways to spoil them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from counterfoil.audit.hearings import adjudicate
from counterfoil.bundle.capsulewriter import write_capsule
from counterfoil.training.order import OrderDraft
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.errors import LogError
from counterfoil_core.base.generators import finish
from counterfoil_core.bundle.capsule import CapsuleContents, CapsuleReader
from counterfoil_core.bundle.stepparts import AddedTensor
from counterfoil_core.hearing.evidence import gather, gather_part
from counterfoil_core.hearing.inspection import open_inspection
from counterfoil_core.judge.looks import added_tensor, judge_unreadable
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.replay.replayer import read_log
from counterfoil_core.replay.sharedreplay import SharedReplayer, read_logs, step_replayer
from counterfoil_core.replay.shares import PartLogError, SharedLogs, State, UpdateJob
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.adjudication import AdjudicationOutcome, AdjudicationReport
from counterfoil_core.values.dispute import UPDATE
from counterfoil_core.values.events import AdjudicationFinished, AuditFinished
from support.bundles import opened_for_change
from support.jobs import Job, audited, record_job
from support.statements import keeps_every_rule

DISPUTED = 3
"""The step at which the trainer of :func:`record_cheat` flips the labels."""


def record_cheat(folder: Path, draft: OrderDraft, key: SigningKey, step: int = DISPUTED) -> Job:
    """A run whose trainer flipped the labels of one batch."""
    return record_job(folder, draft, key, tamper=LabelFlip(step))


def evidence_of(run: Path, order: Path | None = None, **settings: Any) -> CapsuleContents:
    """What the audit of a run that is disputed ends with."""
    finished = audited(run, order, **settings).events[-1]
    assert isinstance(finished, AuditFinished)
    assert finished.evidence is not None, finished.report.reason
    return finished.evidence


def crafted(run: Path, step: int) -> CapsuleContents:
    """What an accuser would gather about a step that nobody disputes, from the run's own states."""
    with open_inspection(run) as inspection:
        assert inspection.order is not None
        order = LoadedOrder.of(inspection.order)
        state: State = order.initial
        first = order.manifest.extent.committed_before(step)
        with step_replayer(order, open_machine("cpu", 1)) as steps:
            for number in range(1, first + 1):
                record = inspection.records[number]
                logs = read_log(order, record, inspection.reader.log(number))
                state = finish(steps.replay(record, state, logs)).result.state
        return gather(inspection, order, step, state)


def crafted_part(run: Path, step: int, about: int | str) -> CapsuleContents:
    """What an accuser would gather about a part of a step that nobody disputes: a share, a tensor, or the update."""
    with open_inspection(run) as inspection:
        assert inspection.order is not None
        order, reader = LoadedOrder.of(inspection.order), inspection.reader
        state: State = order.initial
        with step_replayer(order, open_machine("cpu", 1)) as steps:
            assert isinstance(steps, SharedReplayer)
            for number in range(1, step):
                record = inspection.records[number]
                state = finish(steps.replay(record, state, read_logs(order, record, reader))).result.state
            record = inspection.records[step]
            logs = read_logs(order, record, reader)
            assert isinstance(logs, SharedLogs)
            part: int | AddedTensor | UpdateJob | None
            if about == UPDATE:
                look = finish(judge_unreadable(steps, record, state, PartLogError(LogError("none"), logs))).look
                assert look is not None
                assert look.part is not None
                assert isinstance(look.part.about, UpdateJob)
                part = look.part.about
            else:
                part = about if isinstance(about, int) else finish(added_tensor(steps, record, state, logs, about))
            assert part is not None
            return gather_part(inspection, order, step, state, part)


@contextmanager
def hostile_capsule(folder: Path, contents: CapsuleContents) -> Iterator[tuple[Path, Any]]:
    """Write a good capsule, and hand it out to be spoiled: its path and an open h5py file."""
    path = save(contents, folder / "hostile.cfoil")
    read(path)
    with opened_for_change(path) as file:
        yield path, file


def save(contents: CapsuleContents, path: Path) -> Path:
    write_capsule(contents, path)
    return path


def read(path: Path) -> CapsuleContents:
    with CapsuleReader.open(path) as reader:
        return reader.contents()


def adjudicated(path: Path, **settings: Any) -> AdjudicationReport:
    """Adjudicate a capsule; on one thread unless told otherwise."""
    *_, finished = adjudicate(path, **({"threads": 1} | settings))
    assert isinstance(finished, AdjudicationFinished)
    keeps_every_rule(finished.report)
    return finished.report


def refused(path: Path, sentence: str, **settings: Any) -> AdjudicationReport:
    """Expect that a capsule is refused before any step is replayed, with this in the reason."""
    report = adjudicated(path, **settings)
    assert report.outcome is AdjudicationOutcome.REFUSED, report.reason
    assert sentence in report.reason, report.reason
    assert report.steps_replayed == 0
    return report

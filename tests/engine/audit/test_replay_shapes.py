"""Runs whose batches have several shapes: recorded as torch trains, replayed, and judged in the program of a step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from counterfoil.audit.overview import inspect
from counterfoil.audit.timing import plan_audit
from counterfoil.audit.values.plan import Plan
from counterfoil_core.arithmetic.compute.interpreter import StepInputs
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.sampling import SegmentRequest
from independent.bundle import Bundle, leaf
from independent.exact import replayer_of
from support.capsules import adjudicated, evidence_of, read, save
from support.expectations import disputed, inputs_of, operator_of, verified
from support.jobs import Job, audited, record_job, record_run
from support.shapes import MIXED, Reader, loader, padded, sentences, shapes_order, trained_by_torch
from support.turns import bent_weight

PRECISIONS: dict[str, AnyPrecision | None] = {"float64-24": None, "exact-20": ExactPrecision(20)}
SECOND = 2
"""A step of the second program, that of the longer batches."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> dict[str, Job]:
    return {
        name: record_job(tmp_path_factory.mktemp(name), shapes_order(precision), trainer_key)
        for name, precision in PRECISIONS.items()
    }


@pytest.fixture(scope="module")
def job(runs: dict[str, Job]) -> Job:
    return runs["float64-24"]


def by_torch(collate: Any = padded, *, masked: bool = True) -> tuple[list[float], nn.Module]:
    torch.manual_seed(1)
    model = Reader(masked=masked)
    return trained_by_torch(loader(sentences(MIXED), collate), model, 6), model


@pytest.mark.parametrize("name", PRECISIONS)
def test_a_run_is_verified_on_other_hardware_too(runs: dict[str, Job], name: str) -> None:
    assert verified(runs[name].run, runs[name].order).steps_replayed == 6
    other = audited(runs[name].run, runs[name].order, perturbation="reversed+rewritten").report
    assert other.outcome is Outcome.VERIFIED, other.reason


@pytest.mark.parametrize(("name", "close"), [("float64-24", 2e-6), ("exact-20", 2e-5)])
def test_it_is_what_torch_trains(runs: dict[str, Job], name: str, close: float) -> None:
    losses, model = by_torch()
    with BundleReader.open(runs[name].run) as reader:
        own, state = reader.losses(), reader.checkpoint(6)
    np.testing.assert_allclose(own, losses, rtol=close)
    for tensor, value in model.state_dict().items():
        np.testing.assert_allclose(state[tensor], value.numpy(), atol=10 * close, err_msg=tensor)


def test_control_another_padding_is_another_training(job: Job) -> None:
    """A batch as long as the longest of all, or filled up to as many rows, would not have these losses."""
    losses, _ = by_torch()

    def longer(rows: Any) -> Any:
        batch = padded(rows)
        return {**batch, "tokens": nn.functional.pad(batch["tokens"], (0, 1), value=7)}

    others, _ = by_torch(longer)
    assert min(abs(one - other) for one, other in zip(losses, others, strict=True)) > 1e-3


def test_a_bit_in_a_step_of_the_second_program(job: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    run = record_run(job.order, tmp_path / "run.cfoil", trainer_key, tamper=bent_weight(SECOND, "head.weight"))
    result = disputed(run, job.order, SECOND, parts=("state", "fingerprints"))
    operator = operator_of(result)
    assert operator is not None
    assert operator[1] == "head"
    capsule = save(evidence_of(run, job.order), tmp_path / "a.cfoil")
    assert set(read(capsule).programs.parts) == {"4x5"}
    report = adjudicated(capsule, order=job.order)
    assert (report.outcome, report.step) == (AdjudicationOutcome.CONFIRMED, SECOND), report.reason


def test_rows_of_a_short_batch_that_are_others(job: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    def swap(inputs: StepInputs) -> StepInputs:
        if inputs.draws.step != 3:
            return inputs
        return replace(inputs, batch={**inputs.batch, "labels": inputs.batch["labels"].flip(0)})

    run = record_run(job.order, tmp_path / "run.cfoil", trainer_key, tamper=swap)
    result = disputed(run, job.order, 3, parts=("state", "loss", "fingerprints"))
    assert inputs_of(result) == ("labels",)


def test_a_second_implementation_replays_it(runs: dict[str, Job]) -> None:
    bundle = Bundle(runs["exact-20"].run)
    bundle.check_order()
    state = bundle.group("order/initial")
    for step in range(1, 7):
        result, found = replayer_of(bundle, bundle.turn(step)).replay(step, state)
        assert found == leaf(bundle.record(step))
        state = result.state


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_sample_begins_with_any_program(job: Job, number: int) -> None:
    result = audited(job.run, job.order, segments=SegmentRequest(numbers=(number,)))
    assert result.report.outcome is Outcome.VERIFIED, result.report.reason
    assert result.report.steps_replayed == 2


def test_what_an_inspection_and_a_plan_say(job: Job) -> None:
    summary = inspect(job.run, job.order)
    assert summary.order.pattern == ("4x3", "4x5", "2x3")
    assert summary.order.pattern_steps == 3
    assert summary.order.batch_size == 4
    *_, plan = plan_audit(job.run, threads=1)
    assert isinstance(plan, Plan)
    assert plan.measured_steps >= 3

"""Every recipe, a model of one's own and a step of every operator under exact profiles: ordered, recorded, audited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest
import torch
from benchmarks.honest_jobs import ORDERS

from counterfoil.training.order import OrderDraft
from counterfoil_core.arithmetic.compute.interpreter import StepInputs, StepResult
from counterfoil_core.arithmetic.families.table import DEFINITIONS
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.operators.node import Node
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.outcome import Outcome
from support.jobs import audited, record_job
from support.malicious import Train, Trainer, record_malicious

STEPS = 3
QUICK = ("digits-cnn", "logistic", "own model (LSTM)")
EACH = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in ORDERS]


@cache
def captured(name: str) -> OrderDraft:
    return ORDERS[name](STEPS, ExactPrecision(20))


def ordered(name: str, bits: int) -> OrderDraft:
    """An order of a job; what is captured does not depend on the number of bits."""
    draft = captured(name)
    return replace(draft, manifest=replace(draft.manifest, precision=ExactPrecision(bits)))


@dataclass
class FlippedBit(Trainer):
    """Hands on a state of which one bit of one weight is another one."""

    def result(self, inputs: StepInputs, result: StepResult, train: Train) -> StepResult:
        if not self.acting:
            return result
        name = next(name for name, tensor in result.state.items() if tensor.is_floating_point() and tensor.numel())
        changed = result.state[name].clone()
        changed.view(torch.int32).view(-1)[-1] ^= 1
        return replace(result, state={**result.state, name: changed})


@dataclass
class OtherRow(Trainer):
    """Trains on a batch in which one row stands twice, in the place of another one."""

    def inputs(self, inputs: StepInputs) -> StepInputs:
        if not self.acting:
            return inputs

        def changed(rows: torch.Tensor) -> torch.Tensor:
            rows = rows.clone()
            rows[0] = rows[1]
            return rows

        batch: Mapping[str, torch.Tensor] = {name: changed(rows) for name, rows in inputs.batch.items()}
        return replace(inputs, batch=batch)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", EACH)
def test_nothing_but_single_operations_is_captured(name: str) -> None:
    rounded = {node.entry.kind for node in captured(name).program.nodes if is_rounded(node)}
    assert rounded
    assert rounded <= DEFINITIONS.keys()


def is_rounded(node: Node) -> bool:
    return node.entry.operator_class is OperatorClass.ROUNDED


@pytest.mark.parametrize("bits", [20, pytest.param(13, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", EACH)
def test_honest_runs_are_verified_and_cheats_are_found(
    name: str, bits: int, tmp_path: Path, trainer_key: SigningKey
) -> None:
    job = record_job(tmp_path, ordered(name, bits), trainer_key)
    honest = audited(job.run, job.order).report
    assert honest.outcome is Outcome.VERIFIED, honest.reason
    assert (honest.steps_replayed, honest.log_bytes) == (STEPS, 0)
    elsewhere = audited(job.run, job.order, perturbation="reversed+rewritten").report
    assert elsewhere.outcome is Outcome.VERIFIED, elsewhere.reason

    for number, trainer in enumerate((FlippedBit(2), OtherRow(2))):
        run = record_malicious(job.order, tmp_path / f"{number}.cfoil", trainer_key, trainer)
        found = audited(run, job.order).report
        assert found.outcome is Outcome.DISPUTED, (type(trainer).__name__, found.reason)
        assert found.dispute is not None
        assert found.dispute.step == 2


def test_a_trainer_who_does_as_ordered_is_not_accused(tmp_path: Path, trainer_key: SigningKey) -> None:
    """The control of the cheats: the same recorder, switched off."""
    job = record_job(tmp_path, ordered("digits-cnn", 20), trainer_key)
    run = record_malicious(job.order, tmp_path / "again.cfoil", trainer_key, FlippedBit())
    assert audited(run, job.order).report.outcome is Outcome.VERIFIED

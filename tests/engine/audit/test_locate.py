"""A dispute names the operator at which the runs part."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from counterfoil.training.tamper import LabelFlip
from counterfoil_core.arithmetic.compute.interpreter import StepInputs
from counterfoil_core.arithmetic.selftest import tiny_program
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.commit.state import state_root, tensor_digest
from counterfoil_core.judge.locate import first_differing_operator
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.events import StepReplayed
from support.jobs import Job, audited, digits_order, record_job


def test_points_to_the_first_site_that_differs() -> None:
    program = tiny_program()
    trainer = np.arange(len(program.sites), dtype=np.uint64)
    replay = trainer.copy()
    assert first_differing_operator(program, trainer, replay) is None
    replay[[2, 3]] += np.uint64(1)
    found = first_differing_operator(program, trainer, replay)
    assert found is not None
    assert (found.number, found.total, found.name) == (4, 7, "aten.mm.default")
    assert (found.module, found.phase, found.shape) == ("layer", "backward", (24, 24))
    assert found.input_shapes == ((24, 16), (16, 24))
    assert found.differing_operators == 2
    assert found.where == "aten.mm.default (backward of layer)"


def test_names_the_operators_around_it() -> None:
    program = tiny_program()
    trainer = np.arange(len(program.sites), dtype=np.uint64)
    replay = trainer.copy()
    replay[2] += np.uint64(1)
    found = first_differing_operator(program, trainer, replay)
    assert found is not None
    assert [near.number for near in found.neighbours] == [1, 2, 3, 4, 5, 6, 7]
    assert [near.name for near in found.neighbours] == [node.operator for node in program.nodes]
    rounded = {site.node + 1 for site in program.sites}
    for near in found.neighbours:
        assert near.agrees is (None if near.number not in rounded else near.number != found.number)
    own = found.neighbours[found.number - 1]
    assert (own.name, own.module, own.phase, own.shapes) == (found.name, found.module, found.phase, (found.shape,))


def test_as_many_operators_are_named_before_as_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterfoil_core.judge.locate.NEIGHBOURS", 2)
    program = tiny_program()
    trainer = np.zeros(len(program.sites), dtype=np.uint64)
    replay = trainer.copy()
    replay[2] = 1
    found = first_differing_operator(program, trainer, replay)
    assert found is not None
    assert [near.number - found.number for near in found.neighbours] == [-2, -1, 0, 1, 2]


def scaled_weight(name: str, step: int):
    def tamper(inputs: StepInputs) -> StepInputs:
        if inputs.draws.step != step:
            return inputs
        changed = {**inputs.state, name: inputs.state[name] * 1.5}
        return StepInputs(changed, inputs.batch, inputs.scalars, inputs.draws)

    return tamper


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("tamper", "name", "module", "phase"),
    [
        (scaled_weight("block1.conv2.weight", 3), "aten.convolution.default", "block1.conv2", "forward"),
        (scaled_weight("head.weight", 3), "aten.addmm.default", "head", "forward"),
    ],
    ids=["convolution", "head"],
)
def test_names_module_and_pass(
    tmp_path: Path, trainer_key: SigningKey, tamper, name: str, module: str, phase: str
) -> None:
    job: Job = record_job(tmp_path, digits_order(), trainer_key, tamper=tamper)
    dispute = audited(job.run, job.order).report.dispute
    assert dispute is not None
    assert dispute.step == 3
    assert dispute.operator is not None
    assert (dispute.operator.name, dispute.operator.module, dispute.operator.phase) == (name, module, phase)


def test_a_doctored_update_shows_in_the_pass_where_it_first_counts(tmp_path: Path, trainer_key: SigningKey) -> None:
    """An optimizer slot has no rounded operator in SGD: the next step's forward pass is the first to show it."""

    def tamper(inputs: StepInputs) -> StepInputs:
        if inputs.draws.step != 2:
            return inputs
        slot = "momentum:head.bias"
        return StepInputs(
            {**inputs.state, slot: inputs.state[slot] + torch.ones(10)}, inputs.batch, inputs.scalars, inputs.draws
        )

    job = record_job(tmp_path, digits_order(), trainer_key, tamper=tamper)
    dispute = audited(job.run, job.order).report.dispute
    assert dispute is not None
    assert (dispute.step, dispute.parts, dispute.operator) == (2, ("state",), None)


def test_a_dispute_tells_chunks_elements_and_state_roots(tmp_path: Path, trainer_key: SigningKey) -> None:
    job: Job = record_job(tmp_path, digits_order(), trainer_key, tamper=scaled_weight("head.weight", 3))
    dispute = audited(job.run, job.order).report.dispute
    assert dispute is not None
    assert dispute.compared_at is not None
    assert dispute.trainer_state != dispute.replay_state
    with BundleReader.open(job.run) as reader:
        stored = reader.checkpoint(dispute.compared_at)
        assert dispute.trainer_state == state_root(stored)
    worst = dispute.tensors[0]
    assert worst.detail is not None
    assert worst.detail.trainer == tensor_digest(worst.name, stored[worst.name])
    assert worst.detail.replay != worst.detail.trainer
    for element in worst.detail.elements:
        assert element.trainer == float(stored[worst.name][element.index])
        assert element.equal is (element.trainer == element.replay)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("step", [1, 17, 40])
def test_one_replay_finds_step_and_operator_between_two_distant_checkpoints(
    tmp_path: Path, trainer_key: SigningKey, step: int
) -> None:
    """Only the first and the last state are committed to; fingerprints tell where in between the runs part."""
    draft = digits_order(steps=40, commit_every=40, checkpoint_every=40)
    job = record_job(tmp_path, draft, trainer_key, tamper=LabelFlip(step))
    result = audited(job.run, job.order)
    dispute = result.report.dispute
    assert dispute is not None
    assert dispute.step == step
    assert (dispute.inputs, dispute.operator) == (("labels",), None)
    assert dispute.compared_at == 40
    assert result.report.mismatched_steps == (step,)
    steps = [event.row.step for event in result.of(StepReplayed)]
    assert steps == list(range(1, 41))

"""The trainer computes something else than was ordered and signs what came out: only replay can tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
import torch
from torch import Tensor

from counterfoil.audit.events import DivergenceMeasured, ResumedFromCheckpoint, StepMatch, StepReplayed
from counterfoil.audit.outcome import CheckNumber, CheckState, Outcome
from counterfoil.audit.replay import AuditRequest, run_audit
from counterfoil.cancel import CancelToken
from counterfoil.errors import DataError
from counterfoil.execution.interpreter import Draws, StepInputs
from counterfoil.training.tamper import LabelFlip
from support.jobs import audited, digits_order, record_job, record_run


@dataclass(frozen=True)
class At:
    """Changes the inputs of one step."""

    step: int
    change: Callable[[StepInputs], StepInputs]

    def __call__(self, inputs: StepInputs) -> StepInputs:
        return self.change(inputs) if inputs.draws.step == self.step else inputs


def matches(result) -> list[StepMatch]:
    return [event.row.match for event in result.of(StepReplayed)]


MATCH, MISMATCH, UNJUDGED = StepMatch.MATCH, StepMatch.MISMATCH, StepMatch.UNJUDGED


@pytest.mark.parametrize(
    ("step", "expected", "compared_at"),
    [
        (1, [MISMATCH, UNJUDGED, MATCH, MATCH, MATCH, MATCH], 2),
        (3, [MATCH, MATCH, MISMATCH, UNJUDGED, MATCH, MATCH], 4),
        (4, [MATCH, MATCH, MATCH, MISMATCH, MATCH, MATCH], 4),
        (6, [MATCH, MATCH, MATCH, MATCH, MATCH, MISMATCH], 6),
    ],
)
def test_flipped_labels(tmp_path, digits_job, trainer_key, step, expected, compared_at):
    run = record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key, tamper=LabelFlip(step))
    result = audited(run, digits_job.order)
    report = result.report
    assert report.outcome is Outcome.DISPUTED
    assert report.mismatched_steps == (step,)
    assert matches(result) == expected
    dispute = report.dispute
    assert dispute.step == step
    assert dispute.confirmed
    assert dispute.parts == ("state", "loss", "fingerprints")
    assert dispute.compared_at == compared_at
    assert dispute.trainer_leaf != dispute.replay_leaf
    assert dispute.trainer_loss != dispute.replay_loss
    names = {tensor.name for tensor in dispute.tensors}
    assert {"head.weight", "head.bias", "momentum:head.weight"} <= names
    differences = [tensor.max_abs for tensor in dispute.tensors]
    assert differences == sorted(differences, reverse=True)
    # The path leads from the root to the leaf, one level at a time.
    assert (dispute.path[0].first_leaf, dispute.path[0].last_leaf) == (0, 6)
    assert all(not level.equal for level in dispute.path if level.first_leaf <= step <= level.last_leaf)
    resumed = [event.step for event in result.of(ResumedFromCheckpoint)]
    assert resumed == ([compared_at] if compared_at < 6 else [])
    assert result.check(CheckNumber.SIGNATURE).state is CheckState.PASSED
    assert f"Step {step} " in report.reason


def test_only_the_first_dispute_is_wanted(tmp_path, digits_job, trainer_key):
    run = record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key, tamper=LabelFlip(3))
    result = audited(run, digits_job.order, continue_after_dispute=False)
    assert result.report.outcome is Outcome.DISPUTED
    assert matches(result) == [MATCH, MATCH, MISMATCH, UNJUDGED]
    assert not result.of(ResumedFromCheckpoint)
    assert result.report.dispute.compared_at == 4
    assert result.report.dispute.tensors


@pytest.mark.parametrize("perturbation", ["reversed", "split", "jitter"])
def test_a_dispute_is_the_same_on_other_hardware(tmp_path, digits_job, trainer_key, perturbation):
    run = record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key, tamper=LabelFlip(3))
    here = audited(run, digits_job.order).report
    there = audited(run, digits_job.order, perturbation=perturbation).report
    assert there.outcome is Outcome.DISPUTED
    assert there.mismatched_steps == here.mismatched_steps == (3,)


def test_cancelled_before_the_dispute_is_confirmed(tmp_path, digits_job, trainer_key):
    run = record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key, tamper=LabelFlip(3))
    token = CancelToken()
    report = None
    for event in run_audit(AuditRequest(run, digits_job.order), token):
        if isinstance(event, StepReplayed) and event.row.match is MISMATCH:
            token.cancel()
        report = getattr(event, "report", None)
    assert report.outcome is Outcome.INCONCLUSIVE
    assert report.mismatched_steps == (3,)
    assert "Step 3 came out different" in report.reason


def changed_state(name: str, change: Callable[[Tensor], Tensor]) -> Callable[[StepInputs], StepInputs]:
    return lambda inputs: replace(inputs, state={**inputs.state, name: change(inputs.state[name])})


def one_ulp(tensor: Tensor) -> Tensor:
    bits = tensor.clone().view(torch.int32)
    bits.view(-1)[3] += 1
    return bits.view(torch.float32)


DEEDS = {
    "a learning rate": lambda inputs: replace(inputs, scalars={"lr": inputs.scalars["lr"] * (1 + 2**-20)}),
    "one ulp of one weight": changed_state("block1.conv1.weight", one_ulp),
    "a running mean": changed_state("bn.running_mean", lambda t: t * 2 + 1),
    "a momentum buffer": changed_state("momentum:stem.weight", torch.zeros_like),
    "one pixel": lambda inputs: replace(inputs, batch={**inputs.batch, "images": _one_pixel(inputs.batch["images"])}),
    "the random shifts": lambda inputs: replace(inputs, draws=Draws(inputs.draws.seed + 1, inputs.draws.step)),
}


def _one_pixel(images: Tensor) -> Tensor:
    changed = images.clone()
    changed[2, 4, 4] = 15 - changed[2, 4, 4]
    return changed


@pytest.mark.parametrize("deed", DEEDS)
def test_what_else_a_trainer_may_change(tmp_path, digits_job, trainer_key, deed):
    run = record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key, tamper=At(3, DEEDS[deed]))
    report = audited(run, digits_job.order).report
    assert report.outcome is Outcome.DISPUTED
    assert report.mismatched_steps == (3,)
    assert report.dispute.confirmed


def test_training_in_other_steps_than_every_checkpoint(tmp_path, trainer_key):
    """Sparse commitments: a poisoned step whose state is not digested shows in its loss and fingerprints."""
    draft = digits_order(steps=7, commit_every=3, checkpoint_every=6)
    job = record_job(tmp_path, draft, trainer_key, tamper=LabelFlip(2))
    result = audited(job.run, job.order)
    assert result.report.outcome is Outcome.DISPUTED
    assert result.report.dispute.step == 2
    assert result.report.dispute.parts == ("loss", "fingerprints")
    assert result.report.dispute.compared_at == 6
    assert [event.step for event in result.of(DivergenceMeasured)] == [6, 7]
    # What follows from step 2 is not counted again; step 7 is judged from the trainer's checkpoint, and was honest.
    assert matches(result) == [MATCH, MISMATCH, UNJUDGED, UNJUDGED, UNJUDGED, UNJUDGED, MATCH]
    assert result.report.mismatched_steps == (2,)


def test_an_array_that_the_order_does_not_have():
    with pytest.raises(DataError, match="'targets'"):
        LabelFlip(1, array="targets")(StepInputs({}, {}, {}, Draws(0, 1)))

"""The labels of one batch are flipped: the step is found, and that the labels are not the ordered rows."""

from __future__ import annotations

import pytest

from counterfoil.audit.hearings import run_audit
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.arithmetic.otherwise.perturbation import PERTURBATIONS
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.values.events import DivergenceMeasured, ResumedFromCheckpoint, StepReplayed
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.steptable import StepMatch
from support.expectations import ALL_PARTS, disputed, inputs_of, operator_of, verified
from support.jobs import audited, digits_order, record_job, record_run
from support.pretender import record_pretender

MATCH, MISMATCH, UNJUDGED = StepMatch.MATCH, StepMatch.MISMATCH, StepMatch.UNJUDGED


@pytest.fixture
def poisoned(cheat_job):
    return cheat_job.run


def matches(result) -> list[StepMatch]:
    return [event.row.match for event in result.of(StepReplayed)]


def test_control_no_step_is_poisoned(tmp_path, digits_job, trainer_key):
    run = record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key, tamper=LabelFlip(7))
    verified(run, digits_job.order)


@pytest.mark.sampled(2)
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
    result = disputed(run, digits_job.order, step, parts=ALL_PARTS)
    report = result.report
    assert inputs_of(result) == ("labels",)
    assert matches(result) == expected
    dispute = report.dispute
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
    assert f"Step {step} " in report.reason


def test_behind_the_fingerprint_of_the_ordered_labels(tmp_path, digits_job, trainer_key):
    run = record_pretender(digits_job.order, tmp_path / "run.cfoil", trainer_key, step=3)
    result = disputed(run, digits_job.order, 3)
    assert inputs_of(result) == ()
    assert operator_of(result) == ("aten.nll_loss_forward.default", "", "forward")


def test_only_the_first_dispute_is_wanted(poisoned, digits_job):
    result = disputed(poisoned, digits_job.order, 3, continue_after_dispute=False)
    assert matches(result) == [MATCH, MATCH, MISMATCH, UNJUDGED]
    assert not result.of(ResumedFromCheckpoint)
    assert result.report.dispute.compared_at == 4
    assert result.report.dispute.tensors


@pytest.mark.sampled(2)
@pytest.mark.parametrize("perturbation", PERTURBATIONS)
def test_a_dispute_is_the_same_on_other_hardware(poisoned, digits_job, perturbation):
    disputed(poisoned, digits_job.order, 3, perturbation=perturbation)


def test_cancelled_before_the_dispute_is_confirmed(poisoned, digits_job):
    token = CancelToken()
    report = None
    for event in run_audit(AuditRequest(poisoned, digits_job.order), token):
        if isinstance(event, StepReplayed) and event.row.match is MISMATCH:
            token.cancel()
        report = getattr(event, "report", None)
    assert report.outcome is Outcome.INCONCLUSIVE
    assert report.mismatched_steps == (3,)
    assert "Step 3 came out different" in report.reason


def test_between_sparse_commitments(tmp_path, trainer_key):
    """A poisoned step whose state is not digested shows in its loss and fingerprints."""
    draft = digits_order(steps=7, commit_every=3, checkpoint_every=6)
    job = record_job(tmp_path, draft, trainer_key, tamper=LabelFlip(2))
    result = disputed(job.run, job.order, 2, parts=("loss", "fingerprints"))
    assert result.report.dispute.compared_at == 6
    assert [event.step for event in result.of(DivergenceMeasured)] == [6, 7]
    # What follows from step 2 is not counted again; step 7 is judged from the trainer's checkpoint, and was honest.
    assert matches(result) == [MATCH, MISMATCH, UNJUDGED, UNJUDGED, UNJUDGED, UNJUDGED, MATCH]


def test_the_client_order_is_not_needed_to_find_it(poisoned):
    result = audited(poisoned)
    assert result.report.outcome is Outcome.DISPUTED
    assert result.check(CheckNumber.ORDER).state is CheckState.WARNING

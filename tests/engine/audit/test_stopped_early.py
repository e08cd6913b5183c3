"""A run that its order's rule ends before its last step: recorded, gone on with, audited in every way, delivered.

Who ends a run elsewhere: tests/attacks/test_stopped_early.py.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from counterfoil.audit.parts.partial import replay_part
from counterfoil.delivery.basis import basis_of
from counterfoil.exports.curves import read_curves
from counterfoil.exports.summary import properties
from counterfoil.training.recordingevents import RecordFinished, RunAssembled, StepRecorded
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import DataError, SignatureError
from counterfoil_core.base.generators import finish
from counterfoil_core.base.stoprule import StopRule
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.panel.panel import run_panel
from counterfoil_core.signing.claims import RunClaim
from counterfoil_core.signing.envelope import sign_statement
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.kinds import json_of, statement_of
from counterfoil_core.signing.statements import open_said
from counterfoil_core.statement.verdict import sign_verdict, verify_verdict
from counterfoil_core.statement.write import verdict_statement
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from counterfoil_core.values.panel import PanelFinished, PanelOutcome, Standing
from counterfoil_core.values.sampling import SegmentRequest
from counterfoil_core.values.workers import PartFiles
from support.capsules import adjudicated, evidence_of, save
from support.crews import Bent, crewed
from support.delivered import compared, delivered, exported
from support.expectations import disputed, run_root, verified
from support.heads import heads_of
from support.interrupted import go_on, stop_after
from support.jobs import Job, audited, record_job, record_run
from support.resuming import request_of, same_end, whole
from support.stopping import ENDS, ORDERED, RULE, stopping_order
from support.turns import gan_order

WORDS = f"The run has {ENDS} of {ORDERED} ordered steps"


@pytest.fixture(scope="module")
def job(trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Job:
    return record_job(tmp_path_factory.mktemp("stopped"), stopping_order(), trainer_key)


@pytest.fixture(scope="module")
def cheat(job: Job, trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Its last step, which is the last of the order's for the rule alone, is not what was ordered."""
    run = record_run(job.order, tmp_path_factory.mktemp("cheat") / "run.cfoil", trainer_key, tamper=LabelFlip(ENDS))
    return Job(job.order, run)


# The order.


def test_the_manifest_holds_the_rule_and_others_have_no_word_of_it() -> None:
    manifest = stopping_order().manifest
    assert OrderManifest.from_bytes(manifest.to_bytes()) == manifest
    strict = replace(manifest, may_stop_early=None)
    assert strict.digest != manifest.digest
    assert b"may_stop_early" not in strict.to_bytes()
    assert manifest.may_stop_early == RULE


@pytest.mark.parametrize("patience", [ORDERED, ORDERED + 1])
def test_a_rule_that_could_never_fire_is_refused(patience: int) -> None:
    with pytest.raises(DataError, match="would never fire"):
        stopping_order().stopping_early(StopRule(patience))
    assert stopping_order().stopping_early(StopRule(ORDERED - 1)).manifest.may_stop_early is not None


# The run.


def test_the_run_ends_there_with_its_last_state_digested_and_stored(job: Job) -> None:
    with BundleReader.open(job.run) as reader:
        claim = open_said(RunClaim, reader.claim())
        assert (claim.steps, claim.steps_ordered) == (ENDS, ORDERED)
        assert RULE.fires(reader.losses()) == len(reader.losses()) == reader.extent.steps == ENDS
        assert reader.checkpoint_steps() == (4, ENDS)
        assert [record.step for record in reader.step_records() if record.state_root] == [0, 2, 4, 6, ENDS]
        assert reader.schedule().shape[0] == ORDERED


def test_a_rule_that_does_not_fire_leaves_every_byte_of_the_claim(tmp_path: Path, trainer_key: SigningKey) -> None:
    job = record_job(tmp_path, stopping_order().stopping_early(StopRule(8)), trainer_key)
    with BundleReader.open(job.run) as reader:
        claim = open_said(RunClaim, reader.claim())
        assert (claim.steps, claim.steps_ordered) == (ORDERED, None)
        assert "steps_ordered" not in json_of(claim)
    report = verified(job.run, job.order)
    assert (report.headline, report.steps_recorded) == ("VERIFIED", ORDERED)
    assert "does not fire before the last step" in report.checks[CheckNumber.COMMITMENTS - 1].detail
    part = audited(job.run, job.order, segments=SegmentRequest(numbers=(2,))).report
    assert f"has {ORDERED} of {ORDERED} ordered steps. That the order's rule ends it there" in part.reason


@pytest.mark.sampled(2)
@pytest.mark.parametrize("stopped", [1, 4, 6, ENDS])
def test_a_recording_that_was_stopped_ends_at_the_same_step(job, stopped, tmp_path, trainer_key):
    """Also one that was stopped when its last step was done, and the run not made of it yet."""
    run, heads = tmp_path / "run.cfoil", tmp_path / "heads.jsonl"
    stop_after(stopped, job.order, run, trainer_key, heads=heads, heads_every=3)
    events = go_on(job.order, run, trainer_key, heads=heads, heads_every=3)
    assert [event.step for event in events if isinstance(event, StepRecorded)] == [*range(stopped + 1, ENDS + 1)]
    assert [event.total for event in events if isinstance(event, RunAssembled)] == [ENDS] * ENDS
    assert isinstance(events[-1], RecordFinished)
    assert (events[-1].steps, events[-1].steps_ordered) == (ENDS, ORDERED)
    assert run_root(run) == run_root(job.run)
    assert [head.size - 1 for head in heads_of(heads, trainer_key.public)] == [3, 6, ENDS]
    verified(run, job.order, heads=heads)


# The audit.


def test_it_is_verified_and_every_sentence_says_of_how_many_steps(job: Job, tmp_path: Path) -> None:
    report = verified(job.run, job.order)
    assert report.headline == f"VERIFIED for {ENDS} of {ORDERED} ordered steps"
    assert f"All {ENDS} steps were replayed" in report.reason
    assert f"{WORDS}: by the losses of these steps the order's rule ends it there." in report.reason
    by = {check.number: check for check in report.checks}
    assert f"it has {ENDS} of {ORDERED} ordered steps" in by[CheckNumber.COMMITMENTS].detail
    assert (by[CheckNumber.COVERAGE].state, WORDS in by[CheckNumber.COVERAGE].detail) == (CheckState.PASSED, True)
    assert (report.steps_ordered, report.steps_recorded, report.steps_planned, report.steps_replayed) == (12, 7, 7, 7)


def test_a_sample_says_that_the_other_losses_are_the_trainers_word(job: Job) -> None:
    report = audited(job.run, job.order, segments=SegmentRequest(numbers=(2,))).report
    assert report.outcome is Outcome.VERIFIED
    assert report.headline == f"VERIFIED for 1 of 2 segments, {ENDS} of {ORDERED} ordered steps"
    assert WORDS in report.reason
    assert "are the trainer's word" in report.reason
    assert report.checks[CheckNumber.COVERAGE - 1].state is CheckState.WARNING


def test_workers_and_parts_come_to_the_same(job, tmp_path, monkeypatch):
    alone = whole(request_of(job))
    with crewed(monkeypatch, lambda workplace: Bent(workplace, 2)) as made:
        same_end(whole(request_of(job)), alone, tmp_path)
    assert sorted(number for _, number in made[0].replayed) == [1, 2]
    parts = []
    for number in (1, 2):
        request = request_of(job, segments=SegmentRequest(numbers=(number,)))
        parts.append(tmp_path / f"{number}.part")
        finish(replay_part(request, parts[-1], CancelToken()))
    merged = audited(job.run, job.order, workers=PartFiles(tuple(parts)), recheck=0).report
    assert merged.outcome is Outcome.VERIFIED
    assert f"{WORDS}:" in merged.reason


def test_programs_that_have_had_no_turn_when_it_ends(tmp_path: Path, trainer_key: SigningKey) -> None:
    draft = gan_order()
    manifest = draft.manifest
    early = draft.stopping_early(StopRule(1, 1e6))
    assert manifest.programs.complete_after > 2
    job = record_job(tmp_path, early, trainer_key)
    assert verified(job.run, job.order).headline == f"VERIFIED for 2 of {manifest.steps} ordered steps"


def test_a_dispute_of_its_last_step_and_the_capsule_of_it(job, cheat, tmp_path):
    result = disputed(cheat.run, job.order, ENDS)
    assert result.report.reason.endswith(f"{WORDS}.")
    report = adjudicated(save(evidence_of(cheat.run, job.order), tmp_path / "capsule.cfoil"), order=job.order)
    assert report.outcome is AdjudicationOutcome.CONFIRMED
    assert (report.steps_ordered, report.steps_recorded, report.step) == (ORDERED, ENDS, ENDS)
    assert f"{WORDS}." in report.checks[CheckNumber.COVERAGE - 1].detail


def test_a_panel_of_runs_of_different_lengths(job, tmp_path, trainer_key):
    """Other labels in the third step lead to other losses, which end that run elsewhere, as its own losses say."""
    run = record_run(job.order, tmp_path / "other.cfoil", trainer_key, tamper=LabelFlip(3))
    with BundleReader.open(run) as reader:
        assert reader.extent.steps != ENDS
    *_, last = run_panel([job.run, run], threads=1)
    assert isinstance(last, PanelFinished)
    report = last.report
    assert report.outcome is PanelOutcome.EXPOSED
    assert [member.standing for member in report.members] == [Standing.RIGHT_THERE, Standing.WRONG]


# The verdict.


def test_the_verdict_says_how_many_steps_the_run_has(job: Job, trainer_key: SigningKey, tmp_path: Path) -> None:
    report = verified(job.run, job.order)
    verdict = verify_verdict(sign_verdict(report, trainer_key), trainer_key.public)
    assert verdict.headline == report.headline
    assert (verdict.steps_ordered, verdict.steps_recorded, verdict.steps_replayed) == (ORDERED, ENDS, ENDS)
    assert verdict.predicate["coverage"]["stepsRecorded"] == ENDS
    assert verdict.predicate["inputAttestations"][-1]["predicateType"] == "urn:counterfoil:run:v2"
    assert f"COUNTERFOIL_RUN_ENDED_BY_RULE_AT_{ENDS}_OF_{ORDERED}_STEPS" in properties(verdict)


def _without(predicate: dict[str, Any]) -> None:
    del predicate["coverage"]["stepsRecorded"]


def _as_whole(predicate: dict[str, Any]) -> None:
    _without(predicate)
    predicate["inputAttestations"][-1]["predicateType"] = "urn:counterfoil:run:v1"


@pytest.mark.parametrize(
    ("edit", "rule"),
    [
        (_without, 3),
        (_as_whole, 12),
        (lambda p: p["coverage"].update(stepsRecorded=ENDS - 1), 5),
        (lambda p: p["coverage"].update(stepsRecorded=ENDS + 1), 12),
        (lambda p: p["coverage"].update(stepsOrdered=ENDS), 18),
        (lambda p: p["inputAttestations"][-1].update(predicateType="urn:counterfoil:run:v1"), 3),
    ],
)
def test_a_verdict_that_contradicts_itself_about_the_end_is_refused(job, trainer_key, edit, rule):
    said = copy.deepcopy(
        statement_of(verdict_statement(verified(job.run, job.order), datetime(2026, 1, 31, 12, tzinfo=UTC)))
    )
    assert verify_verdict(sign_statement(said, trainer_key), trainer_key.public).outcome is Outcome.VERIFIED
    edit(said["predicate"])
    with pytest.raises(SignatureError) as caught:
        verify_verdict(sign_statement(said, trainer_key), trainer_key.public)
    assert caught.value.detail.startswith(f"rule {rule}:")


# What is made of it.


def test_its_final_state_is_what_is_delivered(job: Job, tmp_path: Path) -> None:
    basis = basis_of(verified(job.run, job.order))
    tensors = exported(job.run, tmp_path / "weights.safetensors")
    report = compared(delivered(tmp_path / "weights", tensors), job.run, basis)
    assert report.outcome.value == "DELIVERED"
    assert (report.step, report.steps_ordered) == (ENDS, ORDERED)
    assert f"after step {ENDS} of {ORDERED} ordered steps" in report.sentence
    assert report.headline == f"VERIFIED for {ENDS} of {ORDERED} ordered steps"


def test_its_curves_end_where_it_does(job: Job) -> None:
    curves = read_curves(job.run)
    assert curves.steps == ENDS
    assert {len(column) for column in curves.columns.values()} == {ENDS}
    assert (curves.facts["steps"], curves.facts["steps_ordered"]) == (str(ENDS), str(ORDERED))

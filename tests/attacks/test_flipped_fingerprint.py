"""One bit of a signed fingerprint is wrong, all else is honest: the record is disputed, and that makes no poisoner."""

from __future__ import annotations

from pathlib import Path

from counterfoil.audit.difference import compare_runs
from counterfoil.audit.values.accountprose import account_of, meaning_of
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.panel.panel import run_panel
from counterfoil_core.program.places import PlaceSort
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.panel import PanelOutcome, Standing
from support.bundles import flip_bit
from support.capsules import adjudicated, save
from support.expectations import disputed
from support.jobs import audited, digits_order, record_job, record_run, sign_again

STEP = 3
TOO_MUCH = (
    "that the trainer used",
    "are not the ordered ones",
    "data were changed",
    "is not what was ordered",
    "not the one that was ordered",
    "exact arithmetic",
)
"""What was said of an honest training whose fingerprint of the labels has one wrong bit."""


def label_place(run: Path) -> int:
    """The bit of the fingerprints at which that of the labels of the step begins."""
    with BundleReader.open(run) as reader:
        count = len(reader.fingerprints(STEP))
    return (STEP - 1) * count + 1


def test_only_the_fingerprint_is_said_to_be_wrong(forge, digits_job, tmp_path):
    places = digits_order().program.places
    assert (places[1].sort, places[1].name) == (PlaceSort.BATCH, "labels")
    run = forge(lambda run: flip_bit(run, "/run/fingerprints", label_place(run), 5))
    result = disputed(run, digits_job.order, STEP, parts=("fingerprints",))
    dispute = result.report.dispute
    assert (dispute.inputs, dispute.tensors) == (("labels",), ())
    ruling = adjudicated(save(result.events[-1].evidence, tmp_path / "dispute.cfoil"), order=digits_job.order)
    assert ruling.outcome is AdjudicationOutcome.CONFIRMED
    for found, reason in ((dispute, result.report.reason), (ruling.dispute, ruling.reason)):
        for said in (reason, found.finding.sentence, account_of(found, earlier=0), meaning_of(found)):
            assert not [words for words in TOO_MUCH if words in said], said
        assert "record of step 3 is not the one that the ordered step gives" in reason
        assert "The fingerprint that the trainer signed for the rows of 'labels' at step 3" in reason
        assert "the loss, and the state where one is signed, are those of the ordered step" in account_of(
            found, earlier=0
        )


def test_where_runs_are_compared_only_the_fingerprint_is_said_to_be_wrong(forge, digits_job, tmp_path):
    run = forge(lambda run: flip_bit(run, "/run/fingerprints", label_place(run), 5))
    *_, finished = run_panel([digits_job.run, run], order=digits_job.order, threads=1)
    report = finished.report
    assert (report.outcome, report.members[1].standing) == (PanelOutcome.EXPOSED, Standing.WRONG)
    name = report.members[1].name  # both are called run.cfoil, so that their folders tell them apart
    assert name == f"{run.parent.name}/{run.name}"
    assert report.reason.startswith(
        f"{name} signed fingerprints of step 3 that the ordered step does not give; the loss, and the state where "
        "one is signed, are those of the ordered step. The others were right where they part from them; their other "
        "steps were not replayed."
    )
    found = compare_runs(digits_job.run, run)
    assert found.sentence == (
        f"The first step that differs is 3 of {found.compared}: fingerprints. The fingerprints that the runs recorded "
        "of what it reads differ: labels. The loss, and the state where one is signed, are the same in both."
    )


def test_control_where_more_than_a_fingerprint_is_wrong_it_is_not_what_was_ordered(digits_job, tmp_path, trainer_key):
    bad = record_run(digits_job.order, tmp_path / "bad.cfoil", trainer_key, tamper=LabelFlip(STEP))
    *_, finished = run_panel([digits_job.run, bad], order=digits_job.order, threads=1)
    assert finished.report.reason.startswith("Not what was ordered: bad.cfoil.")
    assert "are the same in both" not in compare_runs(digits_job.run, bad).sentence


def test_the_same_where_the_state_is_not_digested(tmp_path, trainer_key):
    job = record_job(tmp_path, digits_order(commit_every=2), trainer_key)
    flip_bit(job.run, "/run/fingerprints", label_place(job.run), 5)
    sign_again(job.run, trainer_key)
    result = disputed(job.run, job.order, STEP, parts=("fingerprints",))
    assert (result.report.dispute.compared_at, result.report.dispute.tensors) == (4, ())
    said = account_of(result.report.dispute, earlier=0)
    assert "The state that is stored at step 4 is the one that was ordered" in said


def test_control_labels_that_were_changed_are_said_to_be(digits_job, tmp_path, trainer_key):
    run = record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key, tamper=LabelFlip(STEP))
    report = audited(run, digits_job.order).report
    said = account_of(report.dispute, earlier=0)
    assert "the labels of step 3 are not the ordered ones" in said
    assert "the model of this run is not the one that was ordered" in said
    assert "Step 3 is not what was ordered" in report.reason

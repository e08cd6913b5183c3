"""The run lies on a share that the trainer writes to: it is checked as it should be, and changed before it is used.

The trainer puts the time of change back, so that the size and the times of the file look as they did.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from counterfoil.training.tamper import LabelFlip
from counterfoil_core.arithmetic.compute.interpreter import StepInputs
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.bundle.capsule import CapsuleReader
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.commit.state import state_root
from counterfoil_core.hearing import inspection as checks, segments, session
from counterfoil_core.statement.verdict import sign_verdict
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.sampling import SegmentRequest
from support.capsules import adjudicated, evidence_of, save
from support.expectations import ALL_PARTS, disputed, verified
from support.forgery import checkpoint
from support.jobs import audited, record_run
from support.rewriting import before, flipped, place_of, stored


def contents(order: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    with BundleReader.open(order) as reader:
        return reader.schedule(), reader.scalars(), reader.data("images"), reader.data("labels")


def poisoned(part: str, order: Path) -> tuple[str, bytes, object]:
    """What the trainer puts in the place of a part of the order, and a tamper that trains on that instead."""
    schedule, scalars, images, labels = contents(order)
    if part == "labels":
        other = (labels + 1) % 10

        def lie(inputs: StepInputs) -> StepInputs:
            return replace(inputs, batch={**inputs.batch, "labels": (inputs.batch["labels"] + 1) % 10})

    elif part == "schedule":
        other = np.roll(schedule, 1, axis=0)

        def lie(inputs: StepInputs) -> StepInputs:
            rows = other[inputs.draws.step - 1]
            batch = {"images": torch.from_numpy(images[rows]), "labels": torch.from_numpy(labels[rows])}
            return replace(inputs, batch=batch)

    else:
        other = scalars * 2

        def lie(inputs: StepInputs) -> StepInputs:
            return replace(inputs, scalars={name: 2 * value for name, value in inputs.scalars.items()})

    dataset = f"/order/data/{part}" if part == "labels" else f"/order/{part}"
    return dataset, stored(other), lie


@pytest.mark.sampled(1)
@pytest.mark.parametrize("part", ["labels", "schedule", "scalars"])
def test_another_order_is_shown_after_the_check(tmp_path, digits_job, trainer_key, monkeypatch, part):
    """Trained on something else than ordered; the file holds what was ordered only while it is checked."""
    dataset, lies, lie = poisoned(part, digits_job.order)
    run = record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key, tamper=lie)
    place = place_of(run, dataset)
    calls = before(monkeypatch, checks, "_check_program", lambda *_: place.write(lies))
    result = audited(run, digits_job.order)
    assert calls
    assert result.report.outcome is Outcome.INCONCLUSIVE, result.report.reason
    assert "changed while it was read" in result.report.reason
    unsigned(result, trainer_key)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("part", "parts"), [("labels", ALL_PARTS), ("schedule", ALL_PARTS), ("scalars", ("state",))], ids=str
)
def test_and_put_back_when_it_was_read(tmp_path, digits_job, trainer_key, monkeypatch, part, parts):
    """What is used was hashed, so the lie is never used, and the verdict names the file that was judged."""
    dataset, lies, lie = poisoned(part, digits_job.order)
    run = record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key, tamper=lie)
    place = place_of(run, dataset)
    honest = place.before
    before(monkeypatch, checks, "_check_program", lambda *_: place.write(lies))
    before(monkeypatch, checks, "_check_commitments", lambda *_: place.write(honest))
    result = disputed(run, digits_job.order, 1, parts=parts, only=False)
    assert result.report.bundle_digest is not None


def unsigned(result, key) -> None:
    """No verdict can be signed: it would name a file that was not judged."""
    assert result.report.bundle_digest is None
    with pytest.raises(SignatureError, match="changed while it was read"):
        sign_verdict(result.report, key)


def test_another_state_is_shown_after_the_check(tmp_path, digits_job, trainer_key, monkeypatch):
    """Steps 3 and 4 started from another state than was signed; a sample of them begins at the stored state."""

    def edit(inputs: StepInputs) -> StepInputs:
        if inputs.draws.step != 3:
            return inputs
        return replace(inputs, state={**inputs.state, "head.bias": inputs.state["head.bias"] + 1})

    run = record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key, tamper=edit)
    sample = SegmentRequest(numbers=(2,))
    disputed(run, digits_job.order, 3, segments=sample, parts=("state", "fingerprints"))
    state = checkpoint(run, 2)
    state["head.bias"] = state["head.bias"] + np.float32(1)
    places = {
        place_of(run, "/run/checkpoints/0000000002/head.bias"): stored(state["head.bias"]),
        place_of(run, "/run/state_roots", 2): state_root(state).value,
    }

    def rewrite(*_: object) -> None:
        for place, lies in places.items():
            place.write(lies)

    before(monkeypatch, session._Audit, "_replay", rewrite)
    result = audited(run, digits_job.order, segments=sample)
    assert result.report.outcome is Outcome.INCONCLUSIVE, result.report.reason
    assert result.report.mismatched_steps in ((), (3,)), "the state that was shown is not used"
    unsigned(result, trainer_key)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("dataset", "row"), [("/run/log", None), ("/run/fingerprints", 2)])
@pytest.mark.parametrize("hide", [True, False])
def test_a_record_is_changed_after_the_check(tmp_path, digits_job, trainer_key, monkeypatch, dataset, row, hide):
    """What a step is judged by is what the trainer signed, or nobody is judged."""
    run = record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key, tamper=LabelFlip(3))
    disputed(run, digits_job.order, 3)
    place = place_of(run, dataset, row)
    before(monkeypatch, session._Audit, "_replay", lambda *_: place.write(flipped(place.before), hide=hide))
    result = audited(run, digits_job.order)
    assert result.report.outcome is Outcome.INCONCLUSIVE, result.report.reason
    assert "changed while it was read" in result.report.reason
    unsigned(result, trainer_key)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "dataset",
    [
        "/order/program",
        "/order/schedule",
        "/order/scalars",
        "/order/data/images",
        "/order/initial/head.weight",
        "/run/claim",
        "/run/losses",
        "/run/state_roots",
        "/run/checkpoints/0000000006/head.bias",
        "/order/manifest",
    ],
)
def test_nothing_is_signed_about_a_file_that_changes(digits_job, tmp_path, trainer_key, monkeypatch, dataset):
    """Whatever part is changed after the checks, and however well it is hidden: nobody is blamed."""
    run = Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))
    place = place_of(run, dataset)
    before(monkeypatch, session._Audit, "_replay", lambda *_: place.write(flipped(place.before, at=-1)))
    result = audited(run, digits_job.order)
    assert result.report.outcome is Outcome.INCONCLUSIVE, result.report.reason
    assert "changed while it was read" in result.report.reason
    unsigned(result, trainer_key)


def test_control_a_file_that_is_touched_or_renamed_is_the_same(digits_job, tmp_path, monkeypatch):
    run = Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))

    def touch(*_: object) -> None:
        run.touch()
        run.rename(tmp_path / "renamed.cfoil").rename(run)

    before(monkeypatch, session._Audit, "_replay", touch)
    verified(run, digits_job.order)


def test_a_truncated_file_is_not_the_trainer_s_doing(digits_job, tmp_path, monkeypatch):
    run = Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))

    def truncate(*_: object) -> None:
        with run.open("r+b") as file:
            file.truncate(4096)

    before(monkeypatch, session._Audit, "_replay", truncate)
    report = audited(run, digits_job.order).report
    assert report.outcome is Outcome.INCONCLUSIVE, report.reason
    assert "changed while it was read" in report.reason


def test_a_dispute_found_before_the_change_can_still_be_proven(tmp_path, digits_job, trainer_key, monkeypatch):
    """The capsule holds signed parts only, so it stands although the file that it was taken from is gone."""
    run = record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key, tamper=LabelFlip(3))
    evidence_of(run, digits_job.order)
    place = place_of(run, "/run/checkpoints/0000000006/head.bias")
    before(monkeypatch, segments, "compare_states", lambda *_: place.write(flipped(place.before)))
    finished = audited(run, digits_job.order).events[-1]
    assert finished.report.outcome is Outcome.INCONCLUSIVE
    assert "step 3 came out different" in finished.report.reason
    assert adjudicated(save(finished.evidence, tmp_path / "c.cfoil")).outcome is AdjudicationOutcome.CONFIRMED


def test_a_capsule_that_changes_while_it_is_read(tmp_path, capsule, monkeypatch):
    path = Path(shutil.copy(capsule, tmp_path / "capsule.cfoil"))
    place = place_of(path, "/capsule/log")
    before(monkeypatch, CapsuleReader, "contents", lambda *_: place.write(flipped(place.before)))
    report = adjudicated(path)
    assert report.outcome is AdjudicationOutcome.INCONCLUSIVE, report.reason
    assert report.capsule_digest is None
    assert "changed while it was read" in report.reason

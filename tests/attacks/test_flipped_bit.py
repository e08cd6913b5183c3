"""One bit of a run is flipped after it was signed: the file is refused, and the sentence names the part."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from counterfoil_core.values.events import StepReplayed
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from support.bundles import flip_bit
from support.jobs import audited

# What is flipped, the check that must fail, and what its sentence says.
FLIPS = [
    ("/order/data/labels", 17, CheckNumber.ORDER_CONTENTS, "data array 'labels'"),
    ("/order/data/images", 100, CheckNumber.ORDER_CONTENTS, "data array 'images'"),
    ("/order/scalars", 3, CheckNumber.ORDER_CONTENTS, "per-step scalars"),
    ("/order/schedule", 5, CheckNumber.ORDER_CONTENTS, "schedule"),
    ("/order/initial/stem.weight", 2, CheckNumber.ORDER_CONTENTS, "initial state"),
    ("/order/program", 500, CheckNumber.ORDER_CONTENTS, "program"),
    ("/run/log", 30, CheckNumber.COMMITMENTS, "run root"),
    ("/run/fingerprints", 70, CheckNumber.COMMITMENTS, "run root"),
    ("/run/state_roots", 4, CheckNumber.COMMITMENTS, "run root"),
    ("/run/losses", 1, CheckNumber.COMMITMENTS, "run root"),
]


@pytest.fixture
def run(tmp_path: Path, digits_job) -> Path:
    return Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))


@pytest.mark.parametrize(("dataset", "element", "number", "sentence"), FLIPS, ids=[flip[0] for flip in FLIPS])
@pytest.mark.parametrize("with_order", [True, False], ids=["client's order", "no order"])
def test_refused(run, digits_job, dataset, element, number, sentence, with_order):
    flip_bit(run, dataset, element)
    result = audited(run, digits_job.order if with_order else None)
    assert result.report.outcome is Outcome.REFUSED
    assert result.check(number).state is CheckState.FAILED
    assert sentence in result.check(number).detail
    assert result.report.steps_replayed == 0
    assert not result.of(StepReplayed)


def test_the_manifest(run, digits_job):
    flip_bit(run, "/order/manifest", 40)
    result = audited(run, digits_job.order)
    assert result.report.outcome is Outcome.REFUSED


def test_the_signature(run, digits_job):
    claim = _claim(run)
    place = claim.index(b'"sig":"') + 20
    flip_bit(run, "/run/claim", place)
    result = audited(run, digits_job.order)
    assert result.report.outcome is Outcome.REFUSED
    assert result.check(CheckNumber.SIGNATURE).state is CheckState.FAILED
    assert "signature" in result.check(CheckNumber.SIGNATURE).detail


@pytest.mark.parametrize("place", [60, 200, 400])
def test_the_signed_payload(run, digits_job, place):
    claim = _claim(run)
    flip_bit(run, "/run/claim", claim.index(b'"payload":"') + place)
    result = audited(run, digits_job.order)
    assert result.report.outcome is Outcome.REFUSED
    assert result.check(CheckNumber.SIGNATURE).state is CheckState.FAILED


def _claim(run: Path) -> bytes:
    from counterfoil_core.bundle.reader import BundleReader

    with BundleReader.open(run) as reader:
        return reader.claim()


@pytest.mark.parametrize("step", [2, 4, 6])
def test_a_weight_of_a_checkpoint(run, digits_job, step):
    """Found when the checkpoint is read; all steps are judged, since the replay has that state itself."""
    flip_bit(run, f"/run/checkpoints/{step:010d}/head.weight", 9, 22)
    result = audited(run, digits_job.order)
    assert result.report.outcome is Outcome.REFUSED
    assert f"step {step}" in result.report.reason
    assert "state root" in result.report.reason
    assert result.report.steps_replayed == 6
    assert result.check(CheckNumber.COMMITMENTS).state is CheckState.FAILED


def test_control_the_unchanged_run(run, digits_job):
    assert audited(run, digits_job.order).report.outcome is Outcome.VERIFIED

"""Calibrated margins: what is measured, what is written, and that the calibrated order replays."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from counterfoil.cli import main, reports, terminal
from counterfoil.training.calibration import (
    Calibration,
    CalibrationProgress,
    CalibrationStarted,
    KindCalibration,
    calibrate,
    margin_for,
)
from counterfoil_core.arithmetic.otherwise.perturbation import PERTURBATIONS
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import BundleError, CancelledError, DataError, GivenFileError
from counterfoil_core.base.precision import PROFILES, Precision
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.program.graph import Program
from counterfoil_core.values.outcome import Outcome
from support.bundles import test_key
from support.jobs import audited, digits_order, gpt2_order, record_run

DEFAULT = Precision()


def result(*arguments, **settings) -> Calibration:
    found = list(calibrate(*arguments, **({"threads": 1} | settings)))[-1]
    assert isinstance(found, Calibration)
    return found


@pytest.mark.parametrize(
    ("largest", "precision", "margin"),
    [
        (0.0, DEFAULT, 44),
        (2.0**-52, DEFAULT, 46),
        (1.01 * 2.0**-52, DEFAULT, 45),
        (2.0**-20, DEFAULT, 34),
        (2.0**-90, DEFAULT, 50),
        (2.0**-23, PROFILES["float32-bfloat16"], 17),
        (2.0**-20.5, PROFILES["float32-bfloat16"], 14),
        (2.0**-18, PROFILES["float32-bfloat16"], 14),
    ],
)
def test_a_margin_lies_six_bits_above_the_largest_difference_within_the_range(largest, precision, margin):
    assert margin_for(largest, precision) == margin


@pytest.fixture(scope="module", params=["digits", "gpt2", "bfloat16"])
def calibrated(request, tmp_path_factory):
    """An order, the order with calibrated margins, a run of it, and what was measured."""
    folder = tmp_path_factory.mktemp("calibration")
    recipe = gpt2_order if request.param == "gpt2" else digits_order
    profile = PROFILES["float32-bfloat16" if request.param == "bfloat16" else "float64-24"]
    recipe(steps=3, checkpoint_every=3, precision=profile).write(folder / "job.cfoil", trial=False)
    found = result(folder / "job.cfoil", folder / "calibrated.cfoil", steps=2)
    record_run(folder / "calibrated.cfoil", folder / "run.cfoil", test_key(folder))
    return folder, found


def test_every_kind_of_the_program_is_measured(calibrated):
    folder, found = calibrated
    with BundleReader.open(folder / "job.cfoil") as reader:
        sites = Program.from_bytes(reader.program()).sites
        precision = reader.manifest.precision
    assert [kind.kind for kind in found.kinds] == sorted({site.kind for site in sites})
    assert sum(kind.sites for kind in found.kinds) == len(sites)
    assert sum(kind.values for kind in found.kinds) == sum(site.elements for site in sites)
    differing = {kind.kind: kind.margin_bits for kind in found.kinds if kind.largest}
    assert dict(found.precision.margins) == differing
    assert differing, "perturbations must show"
    for kind in found.kinds:
        assert kind.margin_bits == margin_for(kind.largest, precision)
        assert 0 <= kind.share_logged <= 1


def test_the_order_differs_in_its_margins_alone(calibrated):
    folder, found = calibrated
    with BundleReader.open(folder / "job.cfoil") as old, BundleReader.open(folder / "calibrated.cfoil") as new:
        new.check_order_contents()
        assert replace(old.manifest, precision=found.precision) == new.manifest
        assert new.manifest.digest == found.order != old.manifest.digest


@pytest.mark.sampled
@pytest.mark.parametrize("perturbation", PERTURBATIONS)
def test_an_honest_run_of_it_is_verified(calibrated, perturbation):
    folder, _ = calibrated
    report = audited(folder / "run.cfoil", folder / "calibrated.cfoil", perturbation=perturbation).report
    assert report.outcome is Outcome.VERIFIED, report.reason
    assert (report.contradictions, report.omissions) == (0, 0)


def test_the_share_is_what_a_recording_logs(trainer_key, tmp_path):
    digits_order(steps=1, checkpoint_every=1).write(tmp_path / "job.cfoil")
    found = result(tmp_path / "job.cfoil", tmp_path / "new.cfoil", steps=1)
    with BundleReader.open(record_run(tmp_path / "new.cfoil", tmp_path / "run.cfoil", trainer_key)) as reader:
        logged = int(reader.log_entries()[0])
    expected = sum(kind.share_logged * kind.values for kind in found.kinds)
    # A site of scale zero logs nothing; distances at the very edge of a margin may be counted either way.
    assert expected == pytest.approx(logged, abs=2 + 0.05 * logged)


def test_it_reports_progress_and_can_be_stopped(tmp_path):
    digits_order(steps=2, checkpoint_every=2).write(tmp_path / "job.cfoil")
    started, *events, _ = calibrate(tmp_path / "job.cfoil", steps=9, threads=1)
    assert started == CalibrationStarted(2), "no more steps than the order has"
    done = [event.done for event in events if isinstance(event, CalibrationProgress)]
    assert done == sorted(done)
    assert done[-1] == 2
    token = CancelToken()
    token.cancel()
    with pytest.raises(CancelledError):
        list(calibrate(tmp_path / "job.cfoil", tmp_path / "new.cfoil", cancel=token))
    assert [path.name for path in tmp_path.iterdir()] == ["job.cfoil"]


def test_what_cannot_be_calibrated_is_a_sentence(tmp_path):
    with pytest.raises(DataError, match="at least one step"):
        list(calibrate(tmp_path / "job.cfoil", steps=0))
    with pytest.raises(GivenFileError, match=r"There is no file .*missing\.cfoil\."):
        list(calibrate(tmp_path / "missing.cfoil"))
    (tmp_path / "junk.cfoil").write_bytes(b"junk")
    with pytest.raises(BundleError, match="not a Counterfoil bundle"):
        list(calibrate(tmp_path / "junk.cfoil"))


@pytest.mark.parametrize(("largest", "tight"), [(2.0**-19.5, True), (2.0**-20.5, False), (0.0, False)])
def test_a_headroom_that_the_grid_cuts_short_is_told(capsys, largest, tight):
    precision = PROFILES["float32-bfloat16"]
    kind = KindCalibration("mm", 1, 10, largest, margin_for(largest, precision), 0.0)
    reports.show_calibration(terminal.console(), Calibration((kind,), precision, 1, None))
    assert ("leaves no room for more" in capsys.readouterr().out) == tight


def test_the_command(tmp_path, capsys):
    job, new = str(tmp_path / "job.cfoil"), str(tmp_path / "new.cfoil")
    order = ["order", "digits-cnn", "--steps", "2", "--width", "2", "--checkpoint-every", "1", "--out", job]
    assert main([*order, "--precision", "float32-bfloat16"]) == 0
    capsys.readouterr()
    assert main(["calibrate", job, "--out", new, "--steps", "1", "--threads", "1"]) == 0
    shown = capsys.readouterr().out
    assert "convolution_backward" in shown
    assert "2^(E-16)" in shown
    assert "float32 -> 8 significand bits" in shown
    assert main(["calibrate", job, "--out", new]) == 4
    assert "exists already" in capsys.readouterr().err
    assert main(["calibrate", job, "--steps", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["order"] is None
    assert {kind["kind"] for kind in found["kinds"]} >= {"convolution", "mm"}
    assert all(math.isfinite(kind["largest"]) for kind in found["kinds"])


def test_an_order_that_keeps_its_data_outside(tmp_path):
    order, data = tmp_path / "job.cfoil", tmp_path / "big.cfdata"
    digits_order(steps=2).write(order, external_data=data)
    with pytest.raises(GivenFileError, match="big") as caught:
        list(calibrate(order, tmp_path / "none.cfoil"))
    assert caught.value.role == "data"
    assert caught.value.remedy
    *_, found = calibrate(order, tmp_path / "calibrated.cfoil", steps=1, data=data, threads=1)
    with BundleReader.open(tmp_path / "calibrated.cfoil") as reader:
        assert reader.manifest.digest == found.order
        assert reader.manifest.data == manifest_of(order).data
    assert not (tmp_path / "none.cfoil").exists()


def manifest_of(path):
    with BundleReader.open(path) as reader:
        return reader.manifest

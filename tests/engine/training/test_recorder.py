from __future__ import annotations

import numpy as np
import pytest
from torch import nn

from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import RecordFinished, RecordStarted, StepRecorded
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, CommitmentError, DeviceError, GivenFileError, NonFiniteError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import run_tree
from counterfoil_core.commit.state import state_root
from counterfoil_core.signing.claims import RunClaim
from counterfoil_core.signing.statements import open_said
from support.bundles import flip_bit
from support.jobs import classify, digits_order, draw, gpt2_order, own_order, record_run


def write(folder, draft):
    path = folder / "job.cfoil"
    draft.write(path, trial=False)
    return path


def left_over(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "job.cfoil")


def test_the_events_of_a_recording(tmp_path, trainer_key):
    order = write(tmp_path, digits_order(steps=3))
    events = [e for e in record(order, tmp_path / "run.cfoil", trainer_key) if not hasattr(e, "done")]
    assert isinstance(events[0], RecordStarted)
    assert events[0].steps == 3
    steps = events[1:-1]
    assert all(isinstance(event, StepRecorded) for event in steps)
    assert [event.step for event in steps] == [1, 2, 3]
    last = events[-1]
    assert isinstance(last, RecordFinished)
    with BundleReader.open(last.path) as reader:
        assert run_tree(reader.step_records()).root == last.run_root
        assert open_said(RunClaim, reader.claim(), trainer_key.public).run_root == last.run_root
        assert reader.losses().tolist() == [event.loss for event in steps]
        assert reader.log_entries().tolist() == [event.log_entries for event in steps]
        assert reader.log_sizes().tolist() == [event.log_bytes for event in steps]
        assert np.isfinite(reader.losses()).all()


def test_recording_is_reproducible(tmp_path, digits_job, trainer_key):
    again = record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key)
    with BundleReader.open(digits_job.run) as one, BundleReader.open(again) as other:
        assert one.step_records() == other.step_records()


def test_a_run_works_as_an_order(tmp_path, digits_job, trainer_key):
    again = record_run(digits_job.run, tmp_path / "run.cfoil", trainer_key)
    with BundleReader.open(digits_job.run) as one, BundleReader.open(again) as other:
        assert one.step_records() == other.step_records()
        assert one.manifest == other.manifest


def test_control_a_tampered_run_is_another(tmp_path, digits_job, trainer_key):
    other = record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key, tamper=LabelFlip(4))
    with BundleReader.open(digits_job.run) as one, BundleReader.open(other) as two:
        pairs = list(zip(one.step_records(), two.step_records(), strict=True))
    assert [a == b for a, b in pairs] == [True, True, True, True, False, False, False]


def test_stored_states_have_the_committed_roots_and_the_loss_falls(tmp_path, trainer_key):
    order = write(tmp_path, gpt2_order(steps=12, learning_rate=1e-2, checkpoint_every=4))
    run = record_run(order, tmp_path / "run.cfoil", trainer_key)
    with BundleReader.open(run) as reader:
        records = reader.step_records()
        for step in (4, 8, 12):
            assert state_root(reader.checkpoint(step)) == records[step].state_root
        losses = reader.losses()
        assert losses[-3:].mean() < losses[:3].mean() - 0.1


def test_cancelling_leaves_what_is_finished(tmp_path, trainer_key):
    order = write(tmp_path, digits_order())
    token = CancelToken()
    events = record(order, tmp_path / "run.cfoil", trainer_key, cancel=token)
    while not isinstance(event := next(events), StepRecorded):
        pass
    assert event.step == 1
    token.cancel()
    with pytest.raises(CancelledError, match=r"the first step is kept in .*\.run\.cfoil\.recording") as caught:
        next(events)
    assert "--resume" in caught.value.remedy
    assert left_over(tmp_path) == [".run.cfoil.recording"]


def test_cancelling_before_the_first_step_leaves_nothing(tmp_path, trainer_key):
    order = write(tmp_path, digits_order())
    token = CancelToken()
    events = record(order, tmp_path / "run.cfoil", trainer_key, cancel=token)
    next(events)
    token.cancel()
    with pytest.raises(CancelledError):
        list(events)
    assert left_over(tmp_path) == []


def test_training_that_diverges_names_the_operator_and_leaves_no_run(tmp_path, trainer_key):
    data = {"x": draw((32, 6), 1), "labels": np.arange(32) % 4}
    model = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 4))
    order = write(tmp_path, own_order(model, classify, data, learning_rate=1e36))
    with pytest.raises(NonFiniteError) as caught:
        record_run(order, tmp_path / "run.cfoil", trainer_key)
    assert "aten." in str(caught.value)
    assert "forward of" in str(caught.value)
    assert caught.value.remedy
    assert left_over(tmp_path) == [".run.cfoil.recording"]


def test_a_damaged_order(tmp_path, trainer_key):
    order = write(tmp_path, digits_order(steps=2))
    flip_bit(order, "/order/data/labels", 4)
    with pytest.raises(CommitmentError, match="'labels'"):
        record_run(order, tmp_path / "run.cfoil", trainer_key)
    assert left_over(tmp_path) == []


def test_no_order(tmp_path, trainer_key):
    with pytest.raises(GivenFileError, match="There is no file"):
        record_run(tmp_path / "nothing.cfoil", tmp_path / "run.cfoil", trainer_key)


@pytest.mark.parametrize("settings", [{"device": "cuda:55"}, {"threads": 0}])
def test_no_such_device_or_threads(tmp_path, digits_job, trainer_key, settings):
    with pytest.raises(DeviceError):
        record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key, **settings)


def test_an_unknown_perturbation(tmp_path, digits_job, trainer_key):
    with pytest.raises(ValueError, match="There is no perturbation"):
        record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key, perturbation="sideways")

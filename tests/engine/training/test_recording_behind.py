"""Large states are digested and stored while the next step runs: nothing else about a recording changes."""

from __future__ import annotations

import errno
import io
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest

from counterfoil.training import recorder, recording, recordingfolder
from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import RecordingResumed, StepRecorded
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, FileWriteError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import StepRecord
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.signing.keys import SigningKey
from support.interrupted import go_on, stop_after
from support.jobs import Job


@pytest.fixture(autouse=True)
def everything_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "LEAST_BEHIND", 0)


def records(run: Path) -> list[StepRecord]:
    with BundleReader.open(run) as reader:
        return reader.step_records()


def test_the_run_is_the_same(tmp_path: Path, digits_job: Job, trainer_key: SigningKey) -> None:
    """The fixture's run was made one thing after the other."""
    heads = tmp_path / "heads.jsonl"
    events = list(record(digits_job.order, tmp_path / "run.cfoil", trainer_key, heads=heads, heads_every=2))
    assert [e.step for e in events if isinstance(e, StepRecorded)] == [1, 2, 3, 4, 5, 6]
    assert records(tmp_path / "run.cfoil") == records(digits_job.run)
    assert len(heads.read_bytes().splitlines()) == 3


def test_the_next_step_runs_meanwhile_and_no_more_states_are_held(
    tmp_path: Path, digits_job: Job, trainer_key: SigningKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: dict[int, threading.Event] = {step: threading.Event() for step in range(1, 8)}
    states: dict[int, list[weakref.ref[Any]]] = {}
    keep, inputs = recorder._Keeper.keep, LoadedOrder.inputs

    def noted(self: LoadedOrder, step: int, state: Any) -> Any:
        begun[step].set()
        states[step - 1] = [weakref.ref(tensor) for tensor in state.values()]
        # While this step runs there is its own state and the one before it, which may be digested still.
        assert not any(tensor() is not None for tensor in states.get(step - 3, ()) if step > 3)
        return inputs(self, step, state)

    def late(self: Any, step: int, *arguments: Any) -> StepRecorded:
        if step < 6:
            assert begun[step + 1].wait(30), "the next step waits for this one"
        return keep(self, step, *arguments)

    monkeypatch.setattr(LoadedOrder, "inputs", noted)
    monkeypatch.setattr(recorder._Keeper, "keep", late)
    list(record(digits_job.order, tmp_path / "run.cfoil", trainer_key))
    assert records(tmp_path / "run.cfoil") == records(digits_job.run)


@pytest.mark.parametrize("behind", [True, False])
def test_a_full_disk_is_said_in_the_same_words_and_loses_nothing(
    tmp_path: Path, digits_job: Job, trainer_key: SigningKey, monkeypatch: pytest.MonkeyPatch, behind: bool
) -> None:
    if not behind:
        monkeypatch.setattr(recorder, "LEAST_BEHIND", 2**60)
    run = tmp_path / "run.cfoil"
    writes = 0

    class Full(io.FileIO):
        def write(self, data: Any) -> int:
            nonlocal writes
            writes += Path(self.name).name.startswith("steps-")
            if writes > 3:
                raise OSError(errno.ENOSPC, "no space")
            return super().write(data)

    with monkeypatch.context() as patch:
        patch.setattr(recording.io, "FileIO", Full)
        with pytest.raises(FileWriteError) as caught:
            list(record(digits_job.order, run, trainer_key, threads=1))
    folder = recordingfolder.recording_folder(run)
    assert caught.value.sentence == f"The recording cannot be written to {folder}: the disk is full."
    assert caught.value.remedy.endswith("What was done is kept: --resume goes on from there.")
    events = go_on(digits_job.order, run, trainer_key)
    assert next(e.steps for e in events if isinstance(e, RecordingResumed)) == 3
    assert records(run) == records(digits_job.run)


def test_cancelling_waits_for_the_step_that_is_done(
    tmp_path: Path, digits_job: Job, trainer_key: SigningKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, run = CancelToken(), tmp_path / "run.cfoil"
    keep = recorder._Keeper.keep

    def late(self: Any, step: int, *arguments: Any) -> StepRecorded:
        if step == 3:
            token.cancel()
            threading.Event().wait(0.2)
        return keep(self, step, *arguments)

    monkeypatch.setattr(recorder._Keeper, "keep", late)
    with pytest.raises(CancelledError, match="the first 3 steps are kept"):
        list(record(digits_job.order, run, trainer_key, cancel=token, threads=1))
    go_on(digits_job.order, run, trainer_key)
    assert records(run) == records(digits_job.run)


def test_letting_go_of_it_keeps_what_is_done(tmp_path: Path, digits_job: Job, trainer_key: SigningKey) -> None:
    run = tmp_path / "run.cfoil"
    stop_after(2, digits_job.order, run, trainer_key)
    events = go_on(digits_job.order, run, trainer_key)
    assert next(e.steps for e in events if isinstance(e, RecordingResumed)) >= 2
    assert records(run) == records(digits_job.run)

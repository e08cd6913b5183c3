"""A trainer whose recording is followed shows one history and signs another, or fills its folder with junk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from counterfoil.audit.hearings import run_audit
from counterfoil.audit.values.follow import FollowRequest
from counterfoil.training.recordingevents import RecordEvent
from counterfoil.training.recordingfolder import recording_folder
from counterfoil.training.stepfile import encode_step, first_seal, read_steps
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.events import AuditFinished
from counterfoil_core.values.outcome import Outcome
from support.besides import audit_of, ending, follow_beside, killed_after, recorder, request_of
from support.expectations import disputed
from support.jobs import Job, record_run
from support.resuming import timeless

Recording = Iterator[RecordEvent]


@pytest.fixture
def request_(digits_job: Job, tmp_path: Path) -> FollowRequest:
    return request_of(digits_job.order, tmp_path / "run.cfoil")


@pytest.fixture
def recording(request_: FollowRequest, trainer_key: SigningKey) -> Recording:
    return recorder(request_.order, request_.run, trainer_key, heads=None)


def test_control_an_honest_recording_is_verified(request_: FollowRequest, recording: Recording, tmp_path: Path) -> None:
    assert audit_of(follow_beside(request_, tmp_path / "part", recording)).report.outcome is Outcome.VERIFIED


@pytest.mark.sampled(1)
@pytest.mark.parametrize("step", [1, 4, 6])
def test_one_history_is_shown_and_another_is_signed(
    request_: FollowRequest, recording: Recording, trainer_key: SigningKey, tmp_path: Path, step: int
) -> None:
    """Whoever follows sees an honest training from beginning to end; the run beside the folder is another."""
    follow_beside(request_, part := tmp_path / "part", recording)
    cheat = record_run(request_.order, tmp_path / "cheat.cfoil", trainer_key, tamper=LabelFlip(step))
    *_, finished = run_audit(replace(request_.audit(part), run=cheat))
    assert isinstance(finished, AuditFinished)
    alone = disputed(cheat, request_.order, step)
    assert timeless(finished.report) == timeless(alone.report)


def spoiled(recording: Recording, folder: Path, spoil: Any) -> Recording:
    """A recorder that is let go of after its third step, and then spoils its folder."""
    yield from killed_after(3, recording)
    spoil(folder)


def endless(folder: Path) -> None:
    """A step that says that its log has exabytes, in a file that says that it is as long."""
    path = folder / "steps-00000001"
    head = bytearray(path.read_bytes()[:100])
    head[:8], head[8:16] = (4).to_bytes(8, "little"), (2**62).to_bytes(8, "little")
    with path.open("ab") as file:
        file.write(head)


def another_step(folder: Path) -> None:
    """Behind the third step stands the ninth, sealed as it should be."""
    path, header = folder / "steps-00000001", (folder / "recording.json").read_bytes()
    with path.open("rb") as file:
        *_, (step, _, seal) = read_steps(file, path.stat().st_size, first_seal(header, 1))
    data, _ = encode_step(replace(step, record=replace(step.record, step=9)), seal)
    with path.open("ab") as file:
        file.write(data)


def pipes(folder: Path) -> None:
    """Pipes that nobody writes to stand where steps and states should."""
    for name in ("steps-00000001", "state-00000004"):
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)


@pytest.mark.parametrize(
    ("spoil", "outcome", "words"),
    [
        (endless, Outcome.INCONCLUSIVE, "seems to have ended after step 3"),
        (another_step, Outcome.REFUSED, "step 9 stands where step 4 should"),
        pytest.param(
            pipes,
            Outcome.ERROR,
            "cannot be read",
            marks=pytest.mark.skipif(os.name == "nt", reason="there are no named pipes in folders"),
        ),
    ],
)
def test_a_folder_full_of_junk_keeps_nobody_waiting_and_accuses_nobody(
    request_: FollowRequest, recording: Recording, tmp_path: Path, spoil: Any, outcome: Outcome, words: str
) -> None:
    found = follow_beside(request_, tmp_path / "part", spoiled(recording, recording_folder(request_.run), spoil))
    assert ending(found).outcome is outcome
    assert words in ending(found).reason
    assert ending(found).dispute is None

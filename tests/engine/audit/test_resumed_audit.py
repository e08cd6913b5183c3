"""An audit that was stopped at any point and goes on ends as one that was not.

"As one that was not" means the statement that is signed, without times, and the table of steps, without times.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec
import pytest
import torch

from counterfoil.audit import progressfile
from counterfoil.audit.hearings import find_progress
from counterfoil.audit.progressfile import ProgressKeeper, Shelf, decode, encode, load
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.arithmetic import machine
from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import ProgressError
from counterfoil_core.hearing.keptaudit import Basis
from counterfoil_core.hearing.knowledge import Judged, Known
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.events import AuditStarted, Event, ProgressRestored
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.sampling import Sample, SegmentRequest, Selection
from support.exact_jobs import CLASSES, plain_order
from support.jobs import Job, digits_order, record_job, record_run, sign_again
from support.resuming import ended, progress_of, request_of, rows_of, same_end, stopped_after, whole


@pytest.fixture(scope="module")
def sparse(trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Every third state is digested, every fourth stored; step 2 and step 7 are not what was ordered."""
    flips = (LabelFlip(2), LabelFlip(7))
    return record_job(
        tmp_path_factory.mktemp("sparse"),
        digits_order(steps=9, commit_every=3, checkpoint_every=3),
        trainer_key,
        tamper=lambda inputs: flips[1](flips[0](inputs)),
    )


@pytest.fixture(autouse=True)
def at_every_segment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is written wherever a segment ends."""
    monkeypatch.setattr(progressfile, "LEAST_SECONDS", -1e9)


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(scope="module")
def uninterrupted() -> Callable[[Job], list[Event]]:
    """The events of an audit of a job that nothing stops; each is audited once."""
    return cache(lambda job: whole(request_of(job)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("which", ["digits_job", "cheat_job"])
def test_stopped_after_any_step(which, steps, tmp_path, request, uninterrupted):
    job = request.getfixturevalue(which)
    place = tmp_path / "kept"
    place.mkdir()
    expected = uninterrupted(job)
    assert ended(expected).report.outcome is (Outcome.DISPUTED if which == "cheat_job" else Outcome.VERIFIED)
    stopped = ended(stopped_after(request_of(job, place), steps))
    assert stopped.report.outcome is (Outcome.DISPUTED if which == "cheat_job" and steps > 3 else Outcome.INCONCLUSIVE)
    judged = steps // 2
    if not judged:
        assert stopped.kept is None
        assert files_in(place) == []
        return
    assert stopped.kept is not None
    assert (stopped.kept.segments, stopped.kept.chosen, stopped.kept.step) == (judged, 3, 2 * judged)
    resumed = whole(request_of(job, place, resume=True))
    restored = [position for position, event in enumerate(resumed) if isinstance(event, ProgressRestored)]
    assert len(restored) == 1
    assert len(rows_of(resumed[: restored[0]])) == 2 * judged
    same_end(resumed, expected, tmp_path)
    assert files_in(place) == [], "the audit came to its end"
    assert ended(resumed).kept is None


@pytest.mark.slow
def test_stopped_again_and_again(sparse, tmp_path):
    """Two disputes, states that are not digested, and a stop in every segment."""
    place = tmp_path / "progress"
    expected = whole(request_of(sparse))
    assert ended(expected).report.mismatched_steps == (2, 7)
    events = stopped_after(request_of(sparse, place), 4)
    events = stopped_after(request_of(sparse, place, resume=True), 4)
    kept = ended(events).kept
    assert kept is not None
    assert kept.step == 6
    assert oct(place.stat().st_mode)[-3:] == "600"
    assert place.is_file()
    same_end(whole(request_of(sparse, place, resume=True)), expected, tmp_path)
    assert not place.exists()


def test_a_sample_is_not_drawn_again(digits_job, tmp_path, monkeypatch):
    place = tmp_path / "progress"
    asked = SegmentRequest(count=2)
    token = CancelToken()
    stopped = stopped_after(request_of(digits_job, place, segments=asked), 2, token)
    sample = ended(stopped).report.sample
    assert sample is not None
    resumed = whole(request_of(digits_job, place, segments=asked, resume=True))
    assert ended(resumed).report.sample == sample
    monkeypatch.setattr(secrets, "token_hex", lambda _: sample.nonce)
    same_end(resumed, whole(request_of(digits_job, segments=asked)), tmp_path)


def test_data_in_a_file_of_their_own(trainer_key, tmp_path):
    draft, job = digits_order(), Job(tmp_path / "job.cfoil", tmp_path / "run.cfoil")
    data = tmp_path / "big.cfdata"
    draft.write(job.order, external_data=data, trial=False)
    record_run(job.order, job.run, trainer_key, data=data, tamper=LabelFlip(3))
    place = tmp_path / "progress"
    stopped = ended(stopped_after(request_of(job, place, data=data), 5))
    assert stopped.kept is not None
    assert stopped.evidence is not None
    same_end(whole(request_of(job, place, data=data, resume=True)), whole(request_of(job, data=data)), tmp_path)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("CUDA out of memory."), torch.AcceleratorError("CUDA error: device lost"), None]
)
def test_the_machine_fails(digits_job, tmp_path, monkeypatch, error):
    place, count = tmp_path / "progress", 0
    each = len(list(whole(request_of(digits_job))))
    assert each

    def failing(operation, args, kwargs):
        nonlocal count
        count += 1
        if error is not None and count > 300:
            raise error
        return native(operation, args, kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(machine, "native", failing)
        finished = ended(whole(request_of(digits_job, place)))
    if error is None:
        assert finished.report.outcome is Outcome.VERIFIED, "control"
        assert count > 300
        return
    assert finished.report.outcome is Outcome.INCONCLUSIVE
    assert finished.kept is not None
    assert finished.kept.segments >= 1
    same_end(whole(request_of(digits_job, place, resume=True)), whole(request_of(digits_job)), tmp_path)


def test_a_state_folder_that_cannot_be_written(digits_job, tmp_path):
    (tmp_path / "file").touch()
    finished = ended(whole(request_of(digits_job, tmp_path / "file" / "progress")))
    assert finished.report.outcome is Outcome.VERIFIED
    finished = ended(stopped_after(request_of(digits_job, tmp_path / "file" / "progress"), 3))
    assert finished.kept is None
    assert "could not be kept" in finished.problem


def test_an_audit_that_starts_anew_says_what_it_could_go_on_from(digits_job, tmp_path):
    path = progress_of(digits_job, tmp_path / "progress", 5)
    before = path.read_bytes()
    events = stopped_after(request_of(digits_job, path), 3)
    started = next(event for event in events if isinstance(event, AuditStarted))
    assert started.kept is not None
    assert (started.kept.segments, started.kept.path) == (2, path)
    assert not any(isinstance(event, ProgressRestored) for event in events)
    assert path.read_bytes() == before, "fewer segments do not replace more"
    kept = ended(events).kept
    assert kept is not None
    assert kept.segments == 2


def test_what_is_kept_is_written_and_read_whole(cheat_job, tmp_path):
    found = load(progress_of(cheat_job, tmp_path / "progress", 4))
    assert found is not None
    assert found.dispute is not None
    assert repr(decode(encode(found))) == repr(found)
    with pytest.raises(ProgressError):
        decode(encode(found)[:-1])
    assert load(tmp_path / "none") is None
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", progressfile.MAX_BYTES + 1)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        assert load(tmp_path / "pipe") is None


def test_progress_without_a_step_can_be_told(cheat_job, tmp_path):
    found = load(progress_of(cheat_job, tmp_path / "progress", 4))
    assert found is not None
    assert found.kept_at(tmp_path).step > 0
    bare = msgspec.structs.replace(found, segments=0, steps=dict.fromkeys(found.steps, b""))
    assert (bare.kept_at(tmp_path).segments, bare.kept_at(tmp_path).step) == (0, 0)


def test_progress_is_written_now_and_then(tmp_path, monkeypatch):
    monkeypatch.setattr(progressfile, "LEAST_SECONDS", 5.0)
    written: list[float] = []
    now = 0.0

    def write(*_: object, **__: object) -> None:
        nonlocal now
        written.append(now)
        now += 1.0  # it takes a second

    monkeypatch.setattr(progressfile, "write_whole", write)
    digest, sample = Digest.of(b""), Sample(100, ((1, 100),), Selection.ALL)
    basis = Basis(digest, digest, digest, "1", "2", "cpu", SegmentRequest())
    keeper = ProgressKeeper(tmp_path / "progress", basis, Shelf(), lambda: now)
    for segment in range(100):
        keeper.kept = None
        keeper.keep(Known(judged=Judged(sample=sample, segments=segment + 1)))
        now += 1.0
    assert written == [0.0, 21.0, 42.0, 63.0, 84.0], "a twentieth of the time at most"
    keeper.flush()
    assert len(written) == 6, "what was noted last is written at the end"
    keeper.flush()
    assert len(written) == 6


def test_two_files_that_hold_the_same_run_do_not_share_their_progress(digits_job, trainer_key, tmp_path, monkeypatch):
    """As two windows replay them at once: each goes on from its own, and none ends in an error."""
    other = Job(digits_job.order, Path(shutil.copy(digits_job.run, tmp_path / "other.cfoil")))
    sign_again(other.run, trainer_key, signed_at="2031-01-01T00:00:00Z")  # other bytes, the same run root
    folder = tmp_path / "audits"
    folder.mkdir()
    one = stopped_after(request_of(digits_job, folder), 4)
    two = stopped_after(request_of(other, folder), 2)
    assert ended(one).kept.path != ended(two).kept.path
    report = ended(one).report
    found = [
        find_progress(request_of(job, folder), report.order_digest, report.run_root) for job in (digits_job, other)
    ]
    assert found == [ended(one).kept, ended(two).kept]
    for job in (digits_job, other):
        assert ended(whole(request_of(job, folder, resume=True))).report.outcome is Outcome.VERIFIED
    assert list(folder.iterdir()) == []
    # A file of which nothing is kept does not offer what is kept of another.
    stopped_after(request_of(digits_job, folder), 4)
    assert find_progress(request_of(other, folder), report.order_digest, report.run_root) is None
    # One that takes long to hash is believed to be the file, and compared when the audit begins.
    monkeypatch.setattr(progressfile, "HASHED_BYTES", 0)
    assert find_progress(request_of(other, folder), report.order_digest, report.run_root) is not None


@pytest.mark.sampled(1)
@pytest.mark.parametrize("steps", [2, 4])
def test_an_audit_of_an_exact_profile_goes_on(tmp_path: Path, trainer_key: SigningKey, steps: int) -> None:
    """There is no account of a log to go on with."""
    job = record_job(tmp_path, plain_order(steps=6), trainer_key, tamper=LabelFlip(3, classes=CLASSES))
    place = progress_of(job, tmp_path / "progress", steps)
    resumed = whole(request_of(job, place, resume=True))
    assert any(isinstance(event, ProgressRestored) for event in resumed)
    same_end(resumed, whole(request_of(job)), tmp_path)
    report = ended(resumed).report
    assert (report.outcome, report.exact_bits, report.steering) == (Outcome.DISPUTED, 20, None)

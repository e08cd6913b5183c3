"""The disk itself is hostile: it shows other bytes from one read to the next, and forges size and times.

What a verdict names is the SHA-256 of the bytes that were judged, or there is none. An honest trainer is not accused,
and a dishonest one is not cleared by it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from counterfoil.audit.overview import inspect_stages
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import GivenFileError, SignatureError
from counterfoil_core.bundle import steady
from counterfoil_core.bundle.steady import SteadyFile
from counterfoil_core.hearing import adjudicator as hearing, inspection as checks, report, segments, session
from counterfoil_core.statement.verdict import sign_verdict
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.events import AuditStarted, CheckChanged
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from counterfoil_core.values.request import AuditRequest
from support.capsules import adjudicated
from support.jobs import audited
from support.rewriting import before, flipped, place_of

MOMENTS = {
    "the checks": (checks, "_check_order"),
    "the replay": (session._Audit, "_replay"),
    "a step": (segments, "read_logs"),
}
PARTS = ("/run/log", "/run/fingerprints", "/run/checkpoints/0000000004/head.bias", "/order/program", "/run/claim")


@pytest.fixture(params=["kept", "read again"])
def cache(request, monkeypatch) -> None:
    """Small files lie in memory as a whole once they were compared, large ones do not."""
    if request.param == "read again":
        monkeypatch.setattr(steady, "CACHED_BYTES", 0)


def unsigned_or_right(result, key, digest: Digest) -> None:
    """Nothing was signed, or what was signed names the file that was judged."""
    report = result.report
    if report.bundle_digest is None:
        with pytest.raises(SignatureError, match="changed while it was read"):
            sign_verdict(report, key)
        assert report.outcome is Outcome.INCONCLUSIVE, report.reason
        assert "changed while it was read" in report.reason
    else:
        assert report.bundle_digest == digest
        assert report.outcome is Outcome.VERIFIED, report.reason


@pytest.mark.sampled
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("part", PARTS)
def test_one_bit_flips_and_stays(digits_job, tmp_path, trainer_key, monkeypatch, cache, moment, part):
    run = Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))
    place = place_of(run, part)
    calls = before(monkeypatch, *MOMENTS[moment], lambda *_: place.write(flipped(place.before, at=-1)))
    result = audited(run, digits_job.order)
    assert calls
    assert result.report.outcome is Outcome.INCONCLUSIVE, result.report.reason
    unsigned_or_right(result, trainer_key, Digest.of_file(digits_job.run))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("part", PARTS)
def test_one_bit_flips_and_flips_back(digits_job, tmp_path, trainer_key, monkeypatch, cache, part):
    """At the end the file is what it was at the start, so no digest made then can tell."""
    run = Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))
    place = place_of(run, part)
    step = 0

    def flicker(*_: object) -> None:
        nonlocal step
        step += 1
        place.write(flipped(place.before, at=-1) if step % 2 else place.before)

    before(monkeypatch, segments, "read_logs", flicker)
    before(monkeypatch, report, "conclude", lambda *_, **__: place.write(place.before))
    before(monkeypatch, steady.SteadyFile, "check_unchanged", lambda *_: place.write(place.before))
    result = audited(run, digits_job.order)
    assert run.read_bytes() == digits_job.run.read_bytes()
    unsigned_or_right(result, trainer_key, Digest.of_file(digits_job.run))


@pytest.mark.parametrize("part", ["/run/log", "/run/fingerprints", "/run/claim", "/order/program"])
def test_control_the_same_bit_before_the_audit_is_refused(digits_job, tmp_path, trainer_key, part):
    run = Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))
    place = place_of(run, part)
    place.write(flipped(place.before, at=-1))
    report = audited(run, digits_job.order).report
    assert report.outcome is Outcome.REFUSED, report.reason
    assert report.bundle_digest == Digest.of_file(run) != Digest.of_file(digits_job.run)
    assert sign_verdict(report, trainer_key)


def lying(monkeypatch, path: Path, lie: Callable[[int, int, memoryview], None]) -> None:
    """Let each read of a file go through a liar, who gets its number, the offset, and the bytes to change.

    Other files lie on the auditor's own disk, which is honest.
    """
    fill, count = SteadyFile._fill, 0

    def filled(self: SteadyFile, offset: int, target: memoryview, what: str) -> None:
        nonlocal count
        fill(self, offset, target, what)
        if self.path == path:
            count += 1
            lie(count, offset, target)

    monkeypatch.setattr(SteadyFile, "_fill", filled)


@pytest.mark.parametrize("parity", [0, 1])
def test_reads_alternate(digits_job, trainer_key, monkeypatch, cache, parity):
    """Every other read shows another bit."""

    def lie(count: int, offset: int, target: memoryview) -> None:
        if count % 2 == parity and len(target):
            target[len(target) // 2] ^= 1

    lying(monkeypatch, digits_job.run, lie)
    result = audited(digits_job.run, digits_job.order)
    # Where the very first read lies, that is the file: it is refused under the digest of what was read.
    if parity == 1 and result.report.bundle_digest is not None:
        assert result.report.outcome is Outcome.REFUSED
        assert result.report.bundle_digest != Digest.of_file(digits_job.run)
    else:
        unsigned_or_right(result, trainer_key, Digest.of_file(digits_job.run))


def test_the_disk_that_the_client_s_order_lies_on_shows_rubbish(digits_job, monkeypatch):
    """That says nothing of the run: nothing is concluded, and there is no report that could be signed."""

    def lie(count: int, offset: int, target: memoryview) -> None:
        target[:] = bytes(len(target))

    lying(monkeypatch, digits_job.order, lie)
    with pytest.raises(GivenFileError, match="is no order"):
        audited(digits_job.run, digits_job.order)


def test_the_honest_file_is_hashed_and_rubbish_is_read(digits_job, trainer_key, monkeypatch):
    """A signed REFUSED would name the SHA-256 of the honest file."""
    size = digits_job.run.stat().st_size

    def lie(count: int, offset: int, target: memoryview) -> None:
        if len(target) < size:
            target[:] = bytes(len(target))

    lying(monkeypatch, digits_job.run, lie)
    monkeypatch.setattr(steady, "_PIECE_BYTES", 2**30)
    monkeypatch.setattr(steady, "LEAST_BLOCK", 2**8)
    result = audited(digits_job.run, digits_job.order)
    assert result.report.outcome is Outcome.INCONCLUSIVE, result.report.reason
    unsigned_or_right(result, trainer_key, Digest.of_file(digits_job.run))


def test_rubbish_is_hashed_and_the_honest_file_is_read(digits_job, trainer_key, monkeypatch):
    """Nor can a run that is not the one of that digest be verified."""

    def lie(count: int, offset: int, target: memoryview) -> None:
        if count == 1:
            target[-1] ^= 1

    lying(monkeypatch, digits_job.run, lie)
    monkeypatch.setattr(steady, "LEAST_BLOCK", 2**8)
    result = audited(digits_job.run, digits_job.order)
    assert result.report.outcome in (Outcome.REFUSED, Outcome.INCONCLUSIVE), result.report.reason
    assert result.report.bundle_digest != Digest.of_file(digits_job.run)


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_file_is_truncated(digits_job, tmp_path, trainer_key, monkeypatch, cache, moment):
    run = Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))
    status = run.stat()

    def truncate(*_: object) -> None:
        os.truncate(run, 4096)
        os.utime(run, ns=(status.st_atime_ns, status.st_mtime_ns))

    before(monkeypatch, *MOMENTS[moment], truncate)
    result = audited(run, digits_job.order)
    assert result.report.outcome is Outcome.INCONCLUSIVE, result.report.reason
    unsigned_or_right(result, trainer_key, Digest.of_file(digits_job.run))


def test_the_file_is_replaced_by_rename(digits_job, cheat_job, tmp_path, trainer_key, monkeypatch, cache):
    """The audit goes on with the file that it opened, and names that one."""
    run = Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))

    def replace(*_: object) -> None:
        other = Path(shutil.copy(cheat_job.run, tmp_path / "other.cfoil"))
        other.replace(run)

    before(monkeypatch, session._Audit, "_replay", replace)
    result = audited(run, digits_job.order)
    assert result.report.outcome is Outcome.VERIFIED, result.report.reason
    unsigned_or_right(result, trainer_key, Digest.of_file(digits_job.run))


def test_a_fraud_is_not_cleared_by_it(cheat_job, tmp_path, trainer_key, monkeypatch, cache):
    """The dishonest run shows other logs now and then: INCONCLUSIVE or DISPUTED, never VERIFIED."""
    run = Path(shutil.copy(cheat_job.run, tmp_path / "run.cfoil"))
    place = place_of(run, "/run/fingerprints", 2)
    before(monkeypatch, segments, "read_logs", lambda *_: place.write(flipped(place.before)))
    result = audited(run, cheat_job.order)
    assert result.report.outcome in (Outcome.INCONCLUSIVE, Outcome.DISPUTED)
    if result.report.outcome is Outcome.DISPUTED:
        assert result.report.bundle_digest == Digest.of_file(cheat_job.run)


def test_a_capsule_shows_other_bytes_each_time(capsule, tmp_path, monkeypatch, cache):
    path = Path(shutil.copy(capsule, tmp_path / "capsule.cfoil"))
    place = place_of(path, "/capsule/log")
    digest = Digest.of_file(path)
    control = adjudicated(path)
    assert (control.outcome, control.capsule_digest) == (AdjudicationOutcome.CONFIRMED, digest)

    def flicker(*_: object) -> None:
        place.write(flipped(place.before))

    before(monkeypatch, hearing, "CapsuleReader", flicker)
    report = adjudicated(path)
    assert report.outcome is AdjudicationOutcome.INCONCLUSIVE, report.reason
    assert report.capsule_digest is None


def test_a_capsule_is_hashed_and_rubbish_is_read(capsule, monkeypatch):
    """A signed REFUSED would name the SHA-256 of the honest capsule."""

    def lie(count: int, offset: int, target: memoryview) -> None:
        if count > 1:
            target[:] = bytes(len(target))

    lying(monkeypatch, capsule, lie)
    report = adjudicated(capsule)
    assert report.outcome is AdjudicationOutcome.INCONCLUSIVE, report.reason
    assert report.capsule_digest is None


def test_the_overview_hashes_nothing(digits_job, monkeypatch):
    """A large file shows its overview at once; what is signed comes from an audit, which hashes it first."""
    hashed = before(monkeypatch, SteadyFile, "settle", lambda *_: None)
    assert next(inspect_stages(digits_job.run)).run is not None
    assert not hashed
    audited(digits_job.run, digits_job.order)
    assert hashed == [True]


def test_hashing_shows_how_far_it_is_and_can_be_stopped(digits_job, monkeypatch):
    """Of a large file; nothing of it is looked at before that is done."""
    monkeypatch.setattr(checks, "_LONG_BYTES", 0)
    monkeypatch.setattr(steady, "_PIECE_BYTES", 2**16)
    monkeypatch.setattr(steady, "LEAST_BLOCK", 2**12)
    events = audited(digits_job.run, digits_job.order).events
    begin = next(place for place, event in enumerate(events) if isinstance(event, AuditStarted))
    shown = [event.check for event in events[:begin] if isinstance(event, CheckChanged)]
    assert len(shown) == begin > 2
    assert all((check.number, check.state) == (CheckNumber.FORMAT, CheckState.RUNNING) for check in shown)
    percents = [int(check.detail.removeprefix("Hashing the file: ").removesuffix(" %.")) for check in shown]
    assert percents == sorted(set(percents))
    assert percents[-1] == 100
    token = CancelToken()
    opened = before(monkeypatch, session, "BundleReader", lambda *_: None)
    stopped = []
    for event in session.run_audit(AuditRequest(digits_job.run, digits_job.order, threads=1), token):
        stopped.append(event)
        token.cancel()
    assert stopped[-1].report.outcome is Outcome.INCONCLUSIVE
    assert stopped[-1].report.bundle_digest is None
    assert not opened


FLIPPER = """
import os, sys
from pathlib import Path
path, offset, stop = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
status = path.stat()
with path.open("r+b", buffering=0) as file:
    file.seek(offset)
    old = file.read(1)[0]
    print("ready", flush=True)
    count = 0
    while not stop.exists():
        count += 1
        file.seek(offset)
        file.write(bytes([old ^ (count & 1)]))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    file.seek(offset)
    file.write(bytes([old]))
os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
"""


def test_another_process_flips_a_bit_all_the_time(digits_job, tmp_path, trainer_key):
    """No moment is chosen: whatever the audit catches, what it signs is about the bytes that it judged."""
    run = Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))
    place, stop = place_of(run, "/run/log"), tmp_path / "stop"
    flipper = subprocess.Popen(
        [sys.executable, "-c", FLIPPER, str(run), str(place.offset), str(stop)], stdout=subprocess.PIPE
    )
    try:
        assert flipper.stdout is not None
        assert flipper.stdout.readline() == b"ready\n"
        for _ in range(3):
            report = audited(run, digits_job.order).report
            assert report.outcome is not Outcome.DISPUTED, report.reason
            if report.outcome is Outcome.REFUSED:  # it was hashed while the bit was the other one
                assert report.bundle_digest != Digest.of_file(digits_job.run)
    finally:
        stop.touch()
        flipper.wait()
    report = audited(run, digits_job.order).report
    assert report.outcome is Outcome.VERIFIED, "control: the same file when nobody writes to it"

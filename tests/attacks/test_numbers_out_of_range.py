"""A part of an audit, or its progress, with a number that no audit writes: the audit ends with a verdict or a sentence.

Sealed with the user's own secret, so that nothing but the number is wrong.
"""

from __future__ import annotations

import hashlib
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from counterfoil.audit import progressfile
from counterfoil.audit.parts import partfile as parts
from counterfoil.audit.parts.partial import replay_part
from counterfoil.base.seal import SEAL_BYTES, seal
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import DIGEST_BYTES
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.statement.verdict import preview_verdict
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.report import AuditReport
from counterfoil_core.values.workers import PartFiles
from support.jobs import Job
from support.out_of_range import spoilt_numbers
from support.resuming import ended, progress_of, request_of, whole

AMOUNTS = [pytest.param(False, id="some"), pytest.param(True, id="each", marks=pytest.mark.slow)]
JOBS = ["digits_job", pytest.param("cheat_job", marks=pytest.mark.slow)]


@pytest.fixture(autouse=True)
def at_every_segment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is written wherever a segment ends."""
    monkeypatch.setattr(progressfile, "LEAST_SECONDS", -1e9)


def _signable(report: AuditReport) -> None:
    """What was found can be signed, or it is said in a sentence why not."""
    if report.bundle_digest is not None:
        with suppress(CounterfoilError):
            preview_verdict(report, datetime.now(UTC))


@pytest.mark.parametrize("each", AMOUNTS)
@pytest.mark.parametrize("name", JOBS)
def test_progress(name: str, each: bool, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    job: Job = request.getfixturevalue(name)
    path = progress_of(job, tmp_path / "kept", 5 if name == "cheat_job" else 3)
    capsule = progressfile.capsule_of(path)
    start = len(progressfile.MARK) + SEAL_BYTES
    data = path.read_bytes()
    evidence = capsule.read_bytes() if capsule.exists() else None
    outcomes = set()
    for where, value in spoilt_numbers(msgspec.msgpack.decode(data[start:]), each=each):
        body = msgspec.msgpack.encode(value)
        path.write_bytes(progressfile.MARK + seal(progressfile.MARK + body) + body)
        if evidence is not None:
            capsule.write_bytes(evidence)
        report = ended(whole(request_of(job, path, resume=True))).report
        assert report.outcome is not Outcome.REFUSED, (where, report.reason)
        if report.outcome is Outcome.ERROR:
            assert "progress that was kept" in report.reason, (where, report.reason)
        _signable(report)
        outcomes.add(report.outcome)
    honest = Outcome.VERIFIED if name == "digits_job" else Outcome.DISPUTED
    assert outcomes <= {Outcome.ERROR, honest}
    assert Outcome.ERROR in outcomes
    # Control: as it was written it is gone on with.
    path.write_bytes(data)
    if evidence is not None:
        capsule.write_bytes(evidence)
    assert ended(whole(request_of(job, path, resume=True))).report.outcome is honest


@pytest.mark.parametrize("each", AMOUNTS)
@pytest.mark.parametrize("name", JOBS)
def test_parts(name: str, each: bool, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    job: Job = request.getfixturevalue(name)
    path = tmp_path / "all.part"
    list(replay_part(request_of(job), path, CancelToken()))
    body = path.read_bytes()[len(parts.MARK) + DIGEST_BYTES :]
    honest = Outcome.VERIFIED if name == "digits_job" else Outcome.DISPUTED

    def merged(value: Any) -> AuditReport:
        spoilt = msgspec.msgpack.encode(value)
        path.write_bytes(parts.MARK + hashlib.sha256(spoilt).digest() + spoilt)
        return ended(whole(request_of(job, workers=PartFiles((path,)), recheck=0))).report

    good = msgspec.msgpack.decode(body)
    assert merged(good).outcome is honest
    for where, value in spoilt_numbers(good, each=each):
        report = merged(value)
        assert report.outcome in (honest, Outcome.ERROR), (where, report.reason)
        if report.outcome is Outcome.ERROR:
            assert "all.part" in report.reason, (where, report.reason)
        _signable(report)


def test_spans_of_a_sample_that_would_fill_the_memory(digits_job: Job, tmp_path: Path) -> None:
    path = progress_of(digits_job, tmp_path / "kept")
    other = Path(shutil.copy(path, tmp_path / "other"))
    found = progressfile.load(other)
    assert found is not None
    for spans in (((1, 2**62),), ((2, 1),), ((1, 2), (2, 3)), ((0, 1),), ()):
        value = msgspec.msgpack.decode(path.read_bytes()[len(progressfile.MARK) + SEAL_BYTES :])
        value["sample"]["spans"] = spans
        body = msgspec.msgpack.encode(value)
        path.write_bytes(progressfile.MARK + seal(progressfile.MARK + body) + body)
        report = ended(whole(request_of(digits_job, path, resume=True))).report
        assert report.outcome is Outcome.ERROR
        assert "progress that was kept" in report.reason

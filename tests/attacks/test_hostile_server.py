"""A run lies on somebody else's server, which gives other bytes than were signed, another file, or nothing.

Nobody is accused for what a server does, nobody is cleared by it, and no verdict is signed about it: what is signed
names the run root that the bytes in question were compared with. A cheat is found from there as from a disk.
"""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from counterfoil.remote import files
from counterfoil.remote.transfer import Patience
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.bundle import farfile
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.hearing import segments, session
from counterfoil_core.remote.address import Address
from counterfoil_core.signing.claims import RunClaim
from counterfoil_core.signing.statements import open_said
from counterfoil_core.statement.verdict import sign_verdict, verify_verdict
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.report import AuditReport
from counterfoil_core.values.sampling import SegmentRequest
from support.jobs import Job, audited
from support.rewriting import before, flipped, place_of
from support.servers import Served, serving

PARTS = (
    "/run/log", "/run/fingerprints", "/run/losses", "/run/state_roots", "/run/log_ends", "/run/claim",
    "/run/acceptance", "/run/checkpoints/0000000004/head.bias", "/order/manifest", "/order/program", "/order/schedule",
    "/order/data/images",
)  # fmt: skip


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PATIENCE", Patience(silence=0.5, tries=2, pause=0.01))


def root_of(run: Path):
    with BundleReader.open(run) as reader:
        return open_said(RunClaim, reader.claim()).run_root


def nothing_signed(report: AuditReport, key) -> None:
    """It is open what the run is, and there is nothing to sign."""
    assert report.outcome is Outcome.INCONCLUSIVE, report.reason
    assert not report.is_about
    with pytest.raises(SignatureError, match="no verdict to sign"):
        sign_verdict(report, key)


def last_byte(run: Path, part: str, tmp_path: Path) -> int:
    """Where the last byte of a part lies."""
    place = place_of(Path(shutil.copy(run, tmp_path)), part)
    return place.offset + len(place.before) - 1


def flip(served: Served, at: int) -> None:
    served.data = served.data[:at] + flipped(served.data[at : at + 1]) + served.data[at + 1 :]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("part", PARTS)
def test_a_server_that_lies_about_a_part_blames_nobody(digits_job: Job, trainer_key, part: str, tmp_path: Path) -> None:
    with serving(digits_job.run) as served:
        flip(served, last_byte(digits_job.run, part, tmp_path))
        report = audited(Address(served.url)).report
    nothing_signed(report, trainer_key)
    assert "is not a run as its trainer signed it" in report.reason
    assert "cannot be told from here" in report.reason
    assert "give the path of the copy" in report.reason


def test_control_the_same_server_without_the_lie_is_verified(digits_job: Job, trainer_key) -> None:
    with serving(digits_job.run) as served:
        report = audited(Address(served.url)).report
    assert report.outcome is Outcome.VERIFIED, report.reason
    assert report.run_root == root_of(digits_job.run)
    assert verify_verdict(sign_verdict(report, trainer_key), trainer_key.public).run_root == report.run_root


def test_one_bit_anywhere_changes_nothing_or_leaves_nothing_to_sign(digits_job: Job, trainer_key) -> None:
    data, root = digits_job.run.read_bytes(), root_of(digits_job.run)
    outcomes = set()
    with serving(data) as served:
        for at in np.random.default_rng(7).integers(len(data), size=8).tolist():
            served.data = data
            flip(served, at)
            report = audited(Address(served.url), digits_job.order, segments=SegmentRequest(numbers=(2,))).report
            if report.outcome is Outcome.VERIFIED:  # nobody looks at that bit
                assert report.run_root == root
            else:
                nothing_signed(report, trainer_key)
            outcomes.add(report.outcome)
    assert outcomes == {Outcome.VERIFIED, Outcome.INCONCLUSIVE}, "control: some bits count"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("part", ["/run/log", "/run/checkpoints/0000000004/head.bias"])
def test_a_server_that_begins_to_lie_when_the_checks_are_made_blames_nobody(
    digits_job: Job, trainer_key, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same tag and length, and other bytes: only digests can tell, of what is fetched again."""
    monkeypatch.setattr(farfile, "CACHED_BLOCKS", 1)
    at = last_byte(digits_job.run, part, tmp_path)
    with serving(digits_job.run) as served:
        calls = before(monkeypatch, session._Audit, "_replay", lambda *_: flip(served, at))
        report = audited(Address(served.url), digits_job.order).report
    assert calls
    nothing_signed(report, trainer_key)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("change", ["tag", "length"])
def test_a_file_that_is_replaced_during_an_audit_is_noticed(
    digits_job: Job, trainer_key, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(digits_job.run) as served:

        def replace(*_: object) -> None:
            if change == "tag":
                served.tag = '"two"'
            else:
                served.data += bytes(8)

        calls = before(monkeypatch, segments, "read_logs", replace)
        report = audited(Address(served.url), digits_job.order).report
    assert calls
    nothing_signed(report, trainer_key)
    assert "changed on its server while it was read" in report.reason


def test_a_server_that_stalls_during_an_audit_blames_nobody(digits_job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(digits_job.run) as served:
        before(monkeypatch, session._Audit, "_replay", lambda *_: setattr(served, "stall", lambda _: True))
        report = audited(Address(served.url), digits_job.order, segments=SegmentRequest(numbers=(3,))).report
    assert report.outcome is Outcome.INCONCLUSIVE
    assert "stopped answering: nothing came in 0.5 seconds" in report.reason
    assert "says nothing about the file itself" in report.reason


@pytest.mark.slow
def test_an_audit_of_a_server_that_stalls_can_be_stopped(digits_job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PATIENCE", Patience(silence=60.0))
    cancel = CancelToken()
    with serving(digits_job.run) as served:
        before(monkeypatch, session._Audit, "_replay", lambda *_: setattr(served, "stall", lambda _: True))
        timer = threading.Timer(3.0, cancel.cancel)
        timer.start()
        report = audited(
            Address(served.url), digits_job.order, segments=SegmentRequest(numbers=(3,)), cancel=cancel
        ).report
        timer.cancel()
    assert (report.outcome, "stopped" in report.reason) == (Outcome.INCONCLUSIVE, True)


def test_a_page_where_a_run_should_be_blames_nobody(trainer_key) -> None:
    with serving(b"<html>Please log in</html>" * 400) as served:
        report = audited(Address(served.url)).report
    nothing_signed(report, trainer_key)


def test_a_cheat_is_found_from_a_server_as_from_a_disk(cheat_job: Job, trainer_key) -> None:
    with serving(cheat_job.run) as served:
        report = audited(Address(served.url), cheat_job.order).report
    disk = audited(cheat_job.run, cheat_job.order).report
    assert report.outcome is disk.outcome is Outcome.DISPUTED
    assert report.dispute is not None
    assert disk.dispute is not None
    assert report.dispute.step == disk.dispute.step
    assert report.dispute.trainer_leaf == disk.dispute.trainer_leaf
    verdict = verify_verdict(sign_verdict(report, trainer_key), trainer_key.public)
    assert (verdict.outcome, verdict.run_root, verdict.bundle_digest) == (
        Outcome.DISPUTED,
        root_of(cheat_job.run),
        None,
    )


def test_a_server_that_shows_a_cheats_run_does_not_accuse_the_honest_one(
    digits_job: Job, cheat_job: Job, trainer_key
) -> None:
    with serving(cheat_job.run) as served:
        report = audited(Address(served.url), digits_job.order).report
    verdict = verify_verdict(sign_verdict(report, trainer_key), trainer_key.public)
    assert verdict.run_root == root_of(cheat_job.run) != root_of(digits_job.run)

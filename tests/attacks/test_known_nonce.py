"""A trainer who knows the sample before it signs, and an auditor who draws until a sample suits."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from counterfoil.cli import main
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.claims import RunClaim
from counterfoil_core.signing.envelope import open_statement, sign_statement
from counterfoil_core.signing.kinds import make_statement
from counterfoil_core.signing.statements import open_said
from counterfoil_core.statement.verdict import sign_verdict, verify_verdict
from counterfoil_core.values.beacon import QUICKNET, Beacon
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.sampling import NonceSource, SegmentRequest, draw_segments
from support.expectations import run_root
from support.jobs import Job, audited, digits_order, record_job, sign_again
from support.resuming import ended, request_of, stopped_after, whole

ROUND = Beacon(
    QUICKNET, 1000, "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39"
)
"""Published on 2023-08-23 at 15:59:24."""
DRAWN = "were drawn at random after the run was signed"


@pytest.fixture(scope="module")
def job(tmp_path_factory, trainer_key):
    """Twelve steps in six segments; the fourth segment is poisoned."""
    draft = digits_order(steps=12, checkpoint_every=2)
    return record_job(tmp_path_factory.mktemp("segments"), draft, trainer_key, tamper=LabelFlip(8))


def missing(job: Job) -> str:
    """A nonce that misses the poisoned segment: what a trainer that knows the nonce finds by other run roots."""
    with BundleReader.open(job.run) as reader:
        root = open_said(RunClaim, reader.claim()).run_root
    nonces = (number.to_bytes(32, "little").hex() for number in range(100))
    return next(nonce for nonce in nonces if 4 not in draw_segments(6, 2, nonce, root))


def test_a_nonce_that_was_given_is_not_called_drawn(job, trainer_key):
    report = audited(job.run, job.order, segments=SegmentRequest(count=2, nonce=missing(job))).report
    assert report.outcome is Outcome.VERIFIED
    assert DRAWN not in report.reason
    assert "with a nonce that was given to the audit; if the trainer could not know it" in report.reason
    verdict = verify_verdict(sign_verdict(report, trainer_key), trainer_key.public)
    assert verdict.sample is not None
    assert verdict.sample.source is NonceSource.GIVEN
    # The control: one that the audit draws itself.
    drawn = audited(job.run, job.order, segments=SegmentRequest(count=1)).report
    assert drawn.sample is not None
    assert drawn.sample.source is NonceSource.DRAWN
    assert drawn.outcome is Outcome.DISPUTED or DRAWN in drawn.reason


def test_a_round_that_was_public_when_the_run_was_signed(digits_job):
    report = audited(digits_job.run, digits_job.order, segments=SegmentRequest(count=2, beacon=ROUND)).report
    assert report.outcome is Outcome.ERROR
    assert "the trainer could know the sample" in report.reason
    assert not report.steps_replayed


def test_a_round_of_a_beacon(digits_job, tmp_path, trainer_key):
    pytest.importorskip("py_ecc", reason="the extra beacon is not installed")
    run = Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))
    sign_again(run, trainer_key, signed_at="2023-08-01T12:00:00Z")
    report = audited(run, digits_job.order, segments=SegmentRequest(count=2, beacon=ROUND)).report
    assert report.outcome is Outcome.VERIFIED
    assert "drawn by round 1000 of the public beacon quicknet, published at 2023-08-23T15:59:24Z" in report.reason
    envelope = sign_verdict(report, trainer_key)
    verdict = verify_verdict(envelope, trainer_key.public)
    assert verdict.sample == report.sample
    forged = Beacon(QUICKNET, 1000, "c0" + "00" * 47)
    spans = draw_segments(3, 2, forged.nonce, run_root(run))
    for changes in (
        {"nonceSource": "drawn"},
        {"nonceSource": "given"},
        {"beacon": None},
        {"nonce": "ab" * 32},
        {"beacon": {"chain": "00" * 32, "round": 1000, "signature": ROUND.signature}},
        {"beacon": {"chain": QUICKNET, "round": 2**36, "signature": ROUND.signature}},
        {"beacon": {"chain": QUICKNET, "round": 999, "signature": ROUND.signature}},
        {
            "beacon": {"chain": QUICKNET, "round": 1000, "signature": forged.signature},
            "nonce": forged.nonce,
            "chosen": [[number, number] for number in spans] if spans == (1, 3) else [[spans[0], spans[1]]],
        },
    ):
        statement = open_statement(envelope, trainer_key.public)
        statement["predicate"]["coverage"]["sample"] |= changes
        bent = make_statement(statement["subject"], statement["predicateType"], statement["predicate"])
        with pytest.raises(SignatureError):
            verify_verdict(sign_statement(bent, trainer_key), trainer_key.public)


def test_an_audit_that_was_stopped_draws_the_same_sample_again(job, tmp_path):
    place = tmp_path / "kept"
    place.mkdir()
    asked = SegmentRequest(count=2)
    first = ended(stopped_after(request_of(job, place, segments=asked), 1)).report.sample
    assert first is not None
    again = whole(request_of(job, place, segments=asked))
    assert again[0].drawn_before or any(getattr(event, "drawn_before", False) for event in again)
    assert ended(again).report.sample == first
    assert not list(place.iterdir()), "an audit that came to its end keeps nothing"
    # The control: the next one is another audit, and draws anew; so does one that asks for something else.
    samples = {ended(whole(request_of(job, place, segments=asked))).report.sample.nonce for _ in range(2)}
    assert len({first.nonce, *samples}) == 3


def test_a_nonce_that_somebody_else_put_there_is_not_used(job, tmp_path):
    place = tmp_path / "kept"
    place.mkdir()
    asked = SegmentRequest(count=2)
    first = ended(stopped_after(request_of(job, place, segments=asked), 1)).report.sample
    (path,) = place.glob("*.nonce")
    path.write_bytes(path.read_bytes()[:-32] + bytes.fromhex(missing(job)))
    second = ended(whole(request_of(job, place, segments=asked))).report.sample
    assert second.nonce not in (first.nonce, missing(job))


def test_merging_again_and_again_draws_once(job, tmp_path, capsys, monkeypatch):
    """Parts of the segments that are right; the poisoned one is replayed when it is drawn, and no call draws anew."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    part = tmp_path / "right.part"
    assert main(["audit", str(job.run), "--segments", "1-3,5-6", "--partial", str(part), "--threads", "1"]) == 0
    torn = tmp_path / "torn.part"
    torn.write_bytes(part.read_bytes()[:-1])
    asked = ["--run", str(job.run), "--order", str(job.order), "--threads", "1", "--segments", "3"]
    capsys.readouterr()
    nonces = set()
    for _ in range(3):
        assert main(["merge", str(torn), *asked]) == 4
        nonces |= {line for line in capsys.readouterr().out.splitlines() if "nonce" in line}
    code = main(["merge", str(part), *asked, "--json"])
    sample = json.loads(capsys.readouterr().out)["sample"]
    assert nonces == {f"Sample drawn with the nonce {sample['nonce']}"}
    drawn = draw_segments(6, 3, sample["nonce"], run_root(job.run))
    assert code == (1 if 4 in drawn else 0)

"""A folder of signed verdicts, and of files that are none; and the rates that follow, for any past."""

from __future__ import annotations

import base64
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from hypothesis import given, strategies as st

from counterfoil.audit import ledger as module
from counterfoil.audit.ledger import read_ledger
from counterfoil.audit.values.ledger import (
    LedgerRun,
    LedgerVerdict,
    RatePolicy,
    RunOutcome,
    by_time,
    propose,
    run_of,
    with_policy,
)
from counterfoil.cli import main
from counterfoil.signing.kinds import Reply, Withdrawal
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil.trust.afterwards import verdict_digest
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CancelledError, GivenFileError
from counterfoil_core.base.generators import finish
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.statements import sign_said
from counterfoil_core.statement.verdict import sign_adjudication, sign_verdict
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.outcome import CheckState
from counterfoil_core.values.report import AuditReport
from counterfoil_core.values.sampling import NonceSource, Sample, Selection, draw_segments, ranges
from support.reports import adjudication_report, checks, disputed_report, verified_report

POLICY = RatePolicy()
AUDITOR, TRAINER, STRANGER = (key_from_seed(bytes([number] * 32)) for number in (1, 2, 3))
ROOT = verified_report().run_root


def of_trainer(report: AuditReport) -> AuditReport:
    return replace(report, trainer_key=TRAINER.public.key_id)


GOOD, BAD = of_trainer(verified_report()), of_trainer(disputed_report())


def signed(report: AuditReport, key: SigningKey = AUDITOR, day: int = 1) -> bytes:
    return sign_verdict(report, key, datetime(2026, 3, day, tzinfo=UTC))


def put(folder: Path, **files: bytes) -> Path:
    for name, data in files.items():
        (folder / f"{name}.json").write_bytes(data)
    return folder


def read(folder: Path, *keys: SigningKey, policy: RatePolicy = POLICY) -> module.Ledger:
    return finish(read_ledger(folder, [key.public for key in keys or (AUDITOR,)], policy))


def reasons(folder: Path, *keys: SigningKey) -> dict[str, str]:
    return {one.name: one.reason for one in read(folder, *keys).not_counted}


def outcomes(folder: Path, *keys: SigningKey) -> list[RunOutcome]:
    return [run.outcome for trainer in read(folder, *keys).trainers for run in trainer.runs]


# What is read


def test_verdicts_are_sorted_by_trainer_and_run(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    put(tmp_path / "below", first=signed(GOOD))
    other = replace(GOOD, trainer_key=STRANGER.public.key_id)
    put(tmp_path, second=signed(GOOD, day=2), other=signed(other))
    found = read(tmp_path)
    assert [trainer.key_id for trainer in found.trainers] == sorted((TRAINER.public.key_id, STRANGER.public.key_id))
    (run,) = next(trainer.runs for trainer in found.trainers if trainer.key_id == TRAINER.public.key_id)
    assert (run.run_root, run.outcome, run.detection) == (ROOT, RunOutcome.CLEAN, 1.0)
    assert [one.name for one in run.verdicts] == ["below/first.json", "second.json"]
    assert run.last_signed == "2026-03-02T00:00:00Z"
    assert not found.not_counted


def test_what_somebody_else_signed_does_not_count(tmp_path: Path) -> None:
    put(tmp_path, theirs=signed(GOOD, STRANGER), own=signed(GOOD, TRAINER))
    assert outcomes(tmp_path) == []
    assert "none of the auditors' keys" in reasons(tmp_path)["theirs.json"]
    # Also not where the trainer's own key is given as an auditor's.
    assert reasons(tmp_path, STRANGER, TRAINER) == {"own.json": "The trainer of the run signed it, which is no audit."}


def test_other_wishes_give_what_reading_anew_gives(tmp_path: Path) -> None:
    sample = Sample(100, ((1, 10),), Selection.RANDOM, "ab" * 32, 1)
    sampled = replace(GOOD, run_root=Digest.of(b"sampled"), sample=sample)
    put(tmp_path, one=signed(GOOD), two=signed(sampled, day=2), bad=b"{")
    wished = RatePolicy(segments=400, bad_fraction=0.05, risk=0.01, floor=0.2, clean_runs=2)
    found = with_policy(read(tmp_path), wished)
    assert found == read(tmp_path, policy=wished)
    assert found != read(tmp_path)


def test_how_far_it_is_is_said_after_each_file(tmp_path: Path) -> None:
    put(tmp_path, one=signed(GOOD), two=b"{", three=b"[]")
    said = list(read_ledger(tmp_path, [AUDITOR.public], POLICY))
    assert [(each.done, each.total) for each in said] == [(1, 3), (2, 3), (3, 3)]


def test_a_flipped_byte_is_found(tmp_path: Path) -> None:
    envelope = json.loads(signed(GOOD))
    payload = base64.b64decode(envelope["payload"])
    envelope["payload"] = base64.b64encode(payload.replace(b'"Digits"', b'"Digitz"')).decode()
    put(tmp_path, changed=json.dumps(envelope).encode(), junk=b"{", array=b"[]")
    assert outcomes(tmp_path) == []
    assert set(reasons(tmp_path)) == {"changed.json", "junk.json", "array.json"}
    put(tmp_path, changed=signed(GOOD))
    assert outcomes(tmp_path) == [RunOutcome.CLEAN]


def test_a_copy_counts_once(tmp_path: Path) -> None:
    put(tmp_path, one=signed(GOOD), two=signed(GOOD))
    (run,) = read(tmp_path).trainers[0].runs
    assert len(run.verdicts) == 1
    assert reasons(tmp_path) == {"two.json": "It is the same verdict as one.json."}


def test_what_its_auditor_took_back_does_not_count(tmp_path: Path) -> None:
    verdict = signed(GOOD)
    digest = verdict_digest(verdict)
    put(tmp_path, verdict=verdict, forged=sign_said(Withdrawal(digest, "no", None), STRANGER))
    assert outcomes(tmp_path) == [RunOutcome.CLEAN]
    assert "does not count" in reasons(tmp_path)["forged.json"]
    put(tmp_path, back=sign_said(Withdrawal(digest, "wrong run", None), AUDITOR))
    assert outcomes(tmp_path) == []
    assert "withdrew it" in reasons(tmp_path)["verdict.json"]
    assert "wrong run" in reasons(tmp_path)["verdict.json"]


def test_replies_are_noted_and_what_is_about_nothing_is_named(tmp_path: Path) -> None:
    verdict = signed(BAD)
    put(tmp_path, verdict=verdict, answer=sign_said(Reply(verdict_digest(verdict), "we differ"), TRAINER))
    put(tmp_path, lost=sign_said(Reply(Digest.of(b"another"), "to nobody"), TRAINER))
    ((run,),) = (trainer.runs for trainer in read(tmp_path).trainers)
    assert (run.outcome, run.verdicts[0].replied, run.verdicts[0].disputed_step) == (RunOutcome.DISPUTED, True, 37)
    assert reasons(tmp_path) == {"lost.json": "It is about no verdict in this folder that holds."}


def test_links_and_pipes_are_left_alone(tmp_path: Path) -> None:
    there, elsewhere = tmp_path / "there", tmp_path / "elsewhere"
    there.mkdir()
    elsewhere.mkdir()
    put(elsewhere, verdict=signed(GOOD))
    (there / "link.json").symlink_to(elsewhere / "verdict.json")
    (there / "folder").symlink_to(elsewhere)
    os.mkfifo(there / "pipe.json")
    assert outcomes(there) == []
    assert outcomes(elsewhere) == [RunOutcome.CLEAN]


def test_too_many_files_and_a_folder_that_is_gone_are_the_givers_slip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, one=b"", two=b"")
    monkeypatch.setattr(module, "MOST_FILES", 1)
    with pytest.raises(GivenFileError, match="more than 1 files"):
        read(tmp_path)
    with pytest.raises(GivenFileError, match="cannot be looked through"):
        read(tmp_path / "gone")


def test_it_can_be_stopped(tmp_path: Path) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(CancelledError):
        finish(read_ledger(put(tmp_path, one=signed(GOOD)), [AUDITOR.public], POLICY, token))


def test_a_sample_counts_for_what_it_would_have_found(tmp_path: Path) -> None:
    nonce = "ab" * 32
    assert ROOT is not None
    drawn = Sample(12, tuple(ranges(draw_segments(12, 3, nonce, ROOT))), Selection.RANDOM, nonce, 1, NonceSource.DRAWN)
    listed = Sample(12, ((3, 5),), Selection.LISTED)
    seen = []
    for sample in (drawn, listed):
        partly = checks(COVERAGE=CheckState.WARNING)
        report = replace(GOOD, sample=sample, steps_planned=15, steps_replayed=15, checks=partly)
        found = read(put(tmp_path, verdict=signed(report)))
        assert not found.not_counted
        (run,) = found.trainers[0].runs
        seen.append(run.detection)
    assert seen == [pytest.approx(3 / 12), 0.0]


def test_a_stranger_counts_the_same(tmp_path: Path) -> None:
    """With the standard library and bare cryptography, and nothing of Counterfoil's: the DSSE envelope's own rule."""
    put(tmp_path, good=signed(GOOD), bad=signed(BAD), no=b"{}")
    put(tmp_path, theirs=signed(GOOD, STRANGER))
    key = load_pem_public_key(AUDITOR.public.pem.encode())
    assert isinstance(key, Ed25519PublicKey)
    counted: Counter[str] = Counter()
    for path in tmp_path.glob("*.json"):
        envelope = json.loads(path.read_text())
        if "payload" not in envelope:
            continue
        payload, kind = base64.b64decode(envelope["payload"]), envelope["payloadType"].encode()
        message = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
        try:
            key.verify(base64.b64decode(envelope["signatures"][0]["sig"]), message)
        except InvalidSignature:
            continue
        counted[json.loads(payload)["predicate"]["result"]] += 1
    ours = Counter(one.outcome for trainer in read(tmp_path).trainers for run in trainer.runs for one in run.verdicts)
    assert ours == counted
    assert sum(ours.values()) == 2


def test_the_command_says_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = tmp_path / "verdicts"
    there.mkdir()
    put(there, good=signed(GOOD), junk=b"{")
    key = tmp_path / "auditor.pub.pem"
    key.write_text(AUDITOR.public.pem)
    assert main(["ledger", str(there), "--auditor-key", str(key), "--segments", "40"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert TRAINER.public.key_id in said
    assert "CLEAN" in said
    assert "of 40 segments of the next run" in said
    assert "Not counted: 1 junk.json" in said
    assert main(["ledger", str(there), "--auditor-key", str(key), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["trainers"][0]["runs"][0]["outcome"] == "CLEAN"
    assert main(["ledger", str(there), "--auditor-key", str(key), "--risk", "0"]) != 0


# What several verdicts say together


def entry(outcome: str, kind: str = "verdict", *, chosen: int = 10, day: int = 1) -> LedgerVerdict:
    step = 37 if outcome in ("DISPUTED", "CONFIRMED") else None
    judged = (36, 37) if kind == "adjudication" else None
    return LedgerVerdict(
        f"{outcome}{day}", kind, outcome, "a", f"2026-03-{day:02}T00:00:00Z", ROOT, ROOT, "", 0, 0, 10, chosen, True,
        step, False, judged,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        ([entry("VERIFIED")], RunOutcome.CLEAN),
        ([entry("VERIFIED"), entry("DISPUTED")], RunOutcome.DISPUTED),
        ([entry("VERIFIED"), entry("DISPUTED"), entry("REJECTED", "adjudication")], RunOutcome.UNDECIDED),
        (
            [entry("DISPUTED"), entry("REJECTED", "adjudication"), entry("CONFIRMED", "adjudication")],
            RunOutcome.DISPUTED,
        ),
        ([entry("CONFIRMED", "adjudication")], RunOutcome.DISPUTED),
        ([entry("REJECTED", "adjudication"), entry("VERIFIED")], RunOutcome.CLEAN),
        ([entry("INCONCLUSIVE"), entry("REFUSED")], RunOutcome.UNDECIDED),
    ],
)
def test_what_verdicts_say_of_one_run_together(told: Sequence[LedgerVerdict], outcome: RunOutcome) -> None:
    assert ROOT is not None
    assert run_of(ROOT, told, 0.1).outcome is outcome


@pytest.mark.parametrize("other", [{"judged": (3, 3)}, {"judged": (38, 40)}, {"order": Digest.of(b"easier")}])
def test_a_capsule_of_another_step_or_order_clears_no_dispute(other: dict[str, Any]) -> None:
    """Whoever cheated at step 37 can hand in a capsule of an honest step, and it is rejected rightly."""
    assert ROOT is not None
    dispute, rejected = entry("DISPUTED"), entry("REJECTED", "adjudication", day=2)
    assert run_of(ROOT, [dispute, rejected], 0.1).outcome is RunOutcome.UNDECIDED, "control: of that step it does"
    assert run_of(ROOT, [dispute, replace(rejected, **other)], 0.1).outcome is RunOutcome.DISPUTED
    second = replace(dispute, disputed_step=3, name="second")
    assert run_of(ROOT, [dispute, second, rejected], 0.1).outcome is RunOutcome.DISPUTED, "each must be rejected"


def test_signed_adjudications_reject_the_step_that_they_are_about(tmp_path: Path) -> None:
    def adjudication(step: int) -> bytes:
        report = adjudication_report(AdjudicationOutcome.REJECTED)
        moved = replace(report, trainer_key=TRAINER.public.key_id, agreed_step=step - 2, step=step)
        return sign_adjudication(moved, AUDITOR)

    put(tmp_path, verdict=signed(BAD), capsule=adjudication(20))
    assert (outcomes(tmp_path), reasons(tmp_path)) == ([RunOutcome.DISPUTED], {})
    put(tmp_path, capsule=adjudication(37))
    assert (outcomes(tmp_path), reasons(tmp_path)) == ([RunOutcome.UNDECIDED], {})


def test_to_audit_old_runs_again_does_not_end_the_time_after_a_dispute() -> None:
    roots = [Digest.of(bytes([number])) for number in range(POLICY.clean_runs)]
    bad = run_of(Digest.of(b"bad"), [entry("DISPUTED", day=10)], 0.1)
    again = [run_of(root, [entry("VERIFIED", day=1), entry("VERIFIED", day=20)], 0.1) for root in roots]
    new = [run_of(root, [entry("VERIFIED", day=20)], 0.1) for root in roots]
    assert propose(by_time([bad, *again]), POLICY).chosen == POLICY.segments
    assert propose(by_time([bad, *new]), POLICY).chosen < POLICY.segments, "control: new ones do"


# The rates

CLEAN = st.builds(
    lambda detection: LedgerRun(ROOT or Digest.of(b""), RunOutcome.CLEAN, (), detection), st.floats(0.0, 1.0)
)
OTHER = st.sampled_from(
    [LedgerRun(ROOT or Digest.of(b""), each, (), 0.0) for each in RunOutcome if each is not RunOutcome.CLEAN]
)
PASTS = st.lists(CLEAN | OTHER, max_size=30)
POLICIES = st.builds(
    RatePolicy,
    st.integers(1, 2000),
    st.floats(0.001, 0.5),
    st.floats(0.001, 0.5),
    st.floats(0.001, 0.9),
    st.integers(1, 6),
)


@given(PASTS, POLICIES)
def test_a_rate_lies_between_the_floor_and_the_whole(past: list[LedgerRun], policy: RatePolicy) -> None:
    rate = propose(past, policy)
    assert policy.floor * policy.segments <= rate.chosen <= policy.segments
    assert 0.0 < rate.chance_bad < 1.0
    assert all(rate.reasons)


@given(PASTS, CLEAN, POLICIES)
def test_a_clean_run_never_raises_it(past: list[LedgerRun], run: LedgerRun, policy: RatePolicy) -> None:
    assert propose([*past, run], policy).chosen <= propose(past, policy).chosen


@given(PASTS, POLICIES)
def test_after_a_dispute_all_is_replayed_until_enough_came_out_clean(past: list[LedgerRun], policy: RatePolicy) -> None:
    bad, good, part = (
        LedgerRun(Digest.of(b""), outcome, (), detection)
        for outcome, detection in ((RunOutcome.DISPUTED, 0.0), (RunOutcome.CLEAN, 1.0), (RunOutcome.CLEAN, 0.99))
    )
    for clean in range(policy.clean_runs):
        assert propose([*past, bad, *[good] * clean, *[part] * 20], policy).chosen == policy.segments
    after = propose([bad, *[good] * 2000], replace(policy, floor=0.001, segments=2000, bad_fraction=0.5))
    assert after.chosen < 2000, "control: it does end"


def test_without_a_past_the_risk_alone_decides() -> None:
    rate = propose([], RatePolicy(segments=100, bad_fraction=0.5, risk=0.05))
    # Half of all trainers' runs may be bad: 0.05 / 0.5 is what may pass, and three of 100 segments, half of them bad,
    # are all good with 50/100 * 49/99 * 48/98 = 0.121, four with 0.0587.
    assert (rate.chance_bad, rate.chosen) == (0.5, 5)
    assert propose([], RatePolicy(segments=100, bad_fraction=0.5, risk=0.05, floor=0.01)).chosen == 4


@pytest.mark.parametrize(
    "wish", [{"risk": 0.0}, {"floor": 1.0}, {"bad_fraction": -1.0}, {"segments": 0}, {"clean_runs": 0}]
)
def test_wishes_that_mean_nothing_are_refused(wish: dict[str, float]) -> None:
    with pytest.raises(GivenFileError):
        RatePolicy(**wish)  # type: ignore[arg-type]

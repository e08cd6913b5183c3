"""A run that lies elsewhere: what is fetched of it, what its verdict says, and the commands that take an address."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from counterfoil.audit.boxed.answers import QUESTIONS, Answers
from counterfoil.audit.overview import inspect
from counterfoil.cli import main
from counterfoil.signing.privatekeys import generate_key
from counterfoil.talk.messages import decode, encode
from counterfoil.talk.port import Call
from counterfoil.training.recipes.gpt2 import Gpt2Size
from counterfoil_core.base.errors import CounterfoilError, GivenFileError, SignatureError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.remote.address import Address
from counterfoil_core.signing.envelope import sign_statement
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.kinds import statement_of
from counterfoil_core.statement.verdict import check_bundle_file, sign_verdict, verify_verdict
from counterfoil_core.statement.write import verdict_statement
from counterfoil_core.values.outcome import CheckNumber, Outcome
from counterfoil_core.values.report import AuditReport
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.sampling import SegmentRequest
from support.capsules import evidence_of, record_cheat, save
from support.jobs import Job, audited, digits_order, gpt2_order, record_job
from support.servers import Served, serving

TIME = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def large_job(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Job:
    """A run of which the stored states are by far the largest part: six of them."""
    order = gpt2_order(size=Gpt2Size(layers=1, heads=2, width=64, context=12), checkpoint_every=1)
    return record_job(tmp_path_factory.mktemp("large"), order, trainer_key)


def share_of_state(served: Served, run: Path, step: int) -> float:
    """How much of the stored state after a step was asked for."""
    with BundleReader.open(run) as reader:
        group = reader._inventory.groups[f"/run/checkpoints/{step:010}"]
        spans = [(stored.offset, stored.offset + stored.info.data_bytes) for stored in group.values()]
    asked = {at for start, count in served.pieces for at in range(start, start + count)}
    return sum(at in asked for first, end in spans for at in range(first, end)) / sum(b - a for a, b in spans)


def test_an_audit_of_a_sample_fetches_the_states_of_its_segments_and_no_others(large_job: Job) -> None:
    with serving(large_job.run) as served:
        report = audited(Address(served.url), large_job.order, segments=SegmentRequest(numbers=(3,))).report
    assert report.outcome is Outcome.VERIFIED, report.reason
    assert report.fetched is not None
    assert report.fetched.compared
    assert report.fetched.size == large_job.run.stat().st_size
    # What tells the file's length, when it is opened and at the end, is no part that was used.
    assert served.sent == report.fetched.bytes + 2
    assert len(served.pieces) == report.fetched.requests + 2
    assert report.fetched.bytes < report.fetched.size / 2
    shares = [share_of_state(served, large_job.run, step) for step in range(1, 7)]
    assert shares[1] == shares[2] == 1.0, "the states before and after segment 3"
    assert max(shares[0], *shares[3:]) < 0.2, "blocks in which a description lies beside them"


def test_an_order_that_is_at_hand_is_not_fetched(large_job: Job) -> None:
    def fetched(order: Path | None) -> tuple[int, str]:
        with serving(large_job.run) as served:
            result = audited(Address(served.url), order, segments=SegmentRequest(numbers=(3,)))
        assert result.report.fetched is not None
        return result.report.fetched.bytes, result.check(CheckNumber.ORDER_CONTENTS).detail

    (without, said), (having, own) = fetched(None), fetched(large_job.order)
    with BundleReader.open(large_job.order) as order:
        initial = sum(math.prod(shape) * 4 for _, shape in order.state_layout().values())
    assert without - having > initial / 4, "zeros are not stored"
    assert "not fetched" in own
    assert "not fetched" not in said


def test_a_verdict_on_it_names_the_run_and_claims_no_digest_of_a_file(digits_job: Job, trainer_key, tmp_path) -> None:
    with serving(digits_job.run) as served:
        remote = audited(Address(f"{served.url}?token=secret"), digits_job.order).report
    local = audited(digits_job.run, digits_job.order).report
    envelope = sign_verdict(remote, trainer_key)
    verdict = verify_verdict(envelope, trainer_key.public)
    assert (verdict.bundle_name, verdict.bundle_digest, verdict.run_root) == ("run.cfoil", None, local.run_root)
    assert verdict.fetched == remote.fetched
    assert verdict.statement.resource_uri == served.url, "without what may be secret"
    here, there = (statement_of(verdict_statement(report, TIME)) for report in (local, remote))
    root = here["subject"][1]["digest"]
    assert there["subject"] == [{"name": "run.cfoil", "digest": root}]
    assert set(there["predicate"]) - set(here["predicate"]) == {"fetched"}
    differing = {name for name, value in here["predicate"].items() if there["predicate"][name] != value}
    assert differing <= {"resourceUri", "checks", "seconds"}, "all else is what an audit of the file says"


def test_a_verdict_on_it_is_compared_with_the_run_in_a_file(digits_job: Job, large_job: Job, trainer_key) -> None:
    with serving(digits_job.run) as served:
        report = audited(Address(served.url)).report
    verdict = verify_verdict(sign_verdict(report, trainer_key), trainer_key.public)
    seen: list[tuple[int, int]] = []
    check_bundle_file(verdict, digits_job.run, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (6, 6)
    with pytest.raises(SignatureError, match="about another run"):
        check_bundle_file(verdict, large_job.run)
    with pytest.raises(GivenFileError):
        check_bundle_file(verdict, digits_job.run.with_name("gone.cfoil"))


@pytest.fixture(scope="module")
def signed(digits_job: Job, trainer_key: SigningKey) -> dict[str, Any]:
    with serving(digits_job.run) as served:
        return statement_of(verdict_statement(audited(Address(served.url)).report, TIME))


def _file(value: dict[str, Any]) -> None:
    value["subject"][0]["digest"] = {"sha256": "0" * 64}


def _second(value: dict[str, Any]) -> None:
    value["subject"].append({"name": "run", "digest": value["subject"][0]["digest"]})


def _unsaid(value: dict[str, Any]) -> None:
    del value["predicate"]["fetched"]


def _elsewhere(value: dict[str, Any]) -> None:
    value["predicate"]["resourceUri"] = "file:run.cfoil"


@pytest.mark.parametrize("change", [_file, _second, _unsaid, _elsewhere])
def test_a_verdict_says_what_was_fetched_and_names_no_file_or_the_other_way_round(
    signed: dict[str, Any], trainer_key: SigningKey, change: Callable[[dict[str, Any]], None]
) -> None:
    value = copy.deepcopy(signed)
    verify_verdict(sign_statement(value, trainer_key), trainer_key.public)
    change(value)
    with pytest.raises(SignatureError) as caught:
        verify_verdict(sign_statement(value, trainer_key), trainer_key.public)
    assert "rule 2:" in caught.value.detail


def test_a_run_of_another_order_is_refused_from_afar_too(digits_job: Job, large_job: Job, trainer_key) -> None:
    with serving(digits_job.run) as served:
        report = audited(Address(served.url), large_job.order).report
    assert report.outcome is Outcome.REFUSED, report.reason
    assert verify_verdict(sign_verdict(report, trainer_key), trainer_key.public).outcome is Outcome.REFUSED


def test_no_progress_is_kept_of_it_but_its_nonce_is(digits_job: Job, tmp_path: Path) -> None:
    def draw(**settings: Any) -> AuditReport:
        with serving(digits_job.run) as served:
            return audited(Address(served.url), progress=tmp_path, segments=SegmentRequest(count=1), **settings).report

    first = draw(retain=True)
    assert [path.suffix for path in tmp_path.iterdir()] == [".nonce"]
    assert first.sample is not None
    assert draw().sample == first.sample, "whoever did not like the first sample gets no other"
    assert list(tmp_path.iterdir()) == []
    report = draw(resume=True)
    assert (report.outcome, "No progress is kept" in report.reason) == (Outcome.ERROR, True)


def test_an_overview_looks_at_no_stored_state_unless_told_so(large_job: Job) -> None:
    with serving(large_job.run) as served:
        quick = inspect(Address(served.url), large_job.order, quick=True)
        assert quick.fetched is not None
        assert quick.path == served.url
        assert not quick.states_checked
        assert quick.fetched.bytes < quick.file_bytes / 3
        full = inspect(Address(served.url), large_job.order)
        assert full.fetched is not None
        assert full.states_checked
        assert full.fetched.bytes > quick.file_bytes / 2
    assert quick.run == inspect(large_job.run).run


# What a process in a box may ask for.


def ask(answers: Answers, question: Callable[..., Any], *arguments: Any) -> Any:
    return QUESTIONS.read(decode(encode(QUESTIONS.call(question, arguments, {})), Call))(answers)


def test_a_process_in_a_box_gets_pieces_of_the_run_and_nothing_else(digits_job: Job, tmp_path: Path) -> None:
    data = digits_job.run.read_bytes()
    with serving(data) as served:
        answers = Answers(tmp_path, AuditRequest(Address(served.url)))
        with pytest.raises(CounterfoilError, match="what it was not given"):
            ask(answers, Answers.fetch_run, ((0, 1),))
        assert ask(answers, Answers.open_run) == len(data)
        assert ask(answers, Answers.fetch_run, ((3, 5), (100, 2))) == (data[3:8], data[100:102])
        ask(answers, Answers.compare_run)
        for spans in (((0, 0),), ((-1, 5),), ((0, len(data) + 1),), ((0, len(data)),) * 400):
            with pytest.raises(CounterfoilError, match="what it was not given"):
                ask(answers, Answers.fetch_run, spans)
        answers.close_run()
        with pytest.raises(CounterfoilError, match="what it was not given"):
            ask(answers, Answers.fetch_run, ((0, 1),))


def test_a_process_that_audits_a_file_can_reach_no_address(digits_job: Job, tmp_path: Path) -> None:
    with pytest.raises(CounterfoilError, match="what it was not given"):
        ask(Answers(tmp_path, AuditRequest(digits_job.run)), Answers.open_run)


# Commands.


def test_the_commands_take_an_address_and_say_what_was_fetched(
    digits_job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generate_key(tmp_path / "auditor.pem", None)
    verdict, order = str(tmp_path / "verdict.json"), str(digits_job.order)
    with serving(digits_job.run) as served:
        assert main(["inspect", served.url, "--order", order]) == 0
        shown = capsys.readouterr().out
        assert "fetched " in shown
        assert "Its stored states were not looked at." in " ".join(shown.split())
        assert main(["inspect", served.url, "--json", "--full"]) == 0
        summary = json.loads(capsys.readouterr().out)
        assert summary["fetched"]["place"] == summary["path"] == served.url
        assert 0 < summary["fetched"]["bytes"] <= summary["file_bytes"]
        assert summary["states_checked"]
        key = str(tmp_path / "auditor.pem")
        asked = ["--order", order, "--segments", "2", "--threads", "1"]
        assert main(["audit", served.url, *asked, "--verdict", verdict, "--key", key]) == 0
        assert f"from {served.url}" in " ".join(capsys.readouterr().out.split())
        assert main(["audit", served.url, *asked, "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert report["bundle_digest"] is None
        assert report["fetched"]["compared"]
    assert main(["verify", verdict, "--key", str(tmp_path / "auditor.pub.pem"), str(digits_job.run)]) == 0
    assert "not hashed" in capsys.readouterr().out


def test_a_server_without_pieces_gives_the_verdict_on_the_file(
    digits_job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(digits_job.run, ranges=False) as served:
        assert main(["audit", served.url, "--order", str(digits_job.order), "--threads", "1", "--json"]) == 0
        out, err = capsys.readouterr()
        assert "gives no pieces of a file: all of it was fetched" in " ".join(err.split())
        report = json.loads(out)
        local = audited(digits_job.run, digits_job.order).report
        assert report["bundle_digest"] == local.bundle_digest.hex if local.bundle_digest else None
        assert (report["fetched"], report["bundle_name"]) == (None, "run.cfoil")


def test_a_capsule_is_judged_from_its_address(trainer_key, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cheat = record_cheat(tmp_path, digits_order(), trainer_key)
    capsule = save(evidence_of(cheat.run, cheat.order), tmp_path / "dispute.cfoil")
    with serving(capsule) as served:
        assert main(["adjudicate", served.url, "--order", str(cheat.order), "--threads", "1"]) == 1
    assert "CONFIRMED" in capsys.readouterr().out


@pytest.mark.parametrize("option", [["--workers", "2"], ["--ray", "auto"], ["--partial", "x.part"]])
def test_what_needs_the_run_as_a_file_says_so(
    option: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["audit", "https://example.org/run.cfoil", *option]) == 4
    assert "need the run as a file" in " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_a_lying_server_is_told_by_a_command_in_one_sentence(
    digits_job: Job, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    verdict = tmp_path / "verdict.json"
    generate_key(tmp_path / "auditor.pem", None)
    with serving(b"<html>Please log in</html>" * 400) as served:
        assert main(["inspect", served.url]) == 2
        assert "not a run as its trainer signed it" in " ".join(capsys.readouterr().err.split())
        asked = ["--verdict", str(verdict), "--key", str(tmp_path / "auditor.pem")]
        assert main(["audit", served.url, "--order", str(digits_job.order), *asked]) == 2
        assert "INCONCLUSIVE" in capsys.readouterr().out
    assert not verdict.exists()

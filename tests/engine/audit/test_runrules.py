"""Rules on a run: each kind held, broken and not to be told; the file read strictly; the statement checked again."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from counterfoil import NO_TRUST, TrustStore, open_judgement
from counterfoil.audit.runrules import _rules, given_verdict, read_rules, subject_of
from counterfoil.audit.values.runrules import GivenVerdict, RuleOutcome, RuleSubject, RunRules, check_rules, outcome_of
from counterfoil.cli import main
from counterfoil.cli.rules import results_of
from counterfoil.signing.kinds import Cause, Revocation, RevocationList, RulesStatement, Withdrawal
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil.trust.afterwards import verdict_digest
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError, GivenFileError, SignatureError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.commit.state import tensor_digest
from counterfoil_core.signing.statements import open_said, sign_said
from counterfoil_core.statement.verdict import sign_verdict
from support.jobs import Job
from support.reports import verified_report
from support.trusted import store_of

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "examples" / "rules").glob("*.toml"))
KEY, OTHER, THIRD = (key_from_seed(bytes([number]) * 32) for number in (1, 2, 3))
HELD, BROKEN, CANNOT = RuleOutcome.HELD, RuleOutcome.BROKEN, RuleOutcome.CANNOT_BE_TOLD


@pytest.fixture(scope="module")
def subject(digits_job: Job) -> RuleSubject:
    return subject_of(digits_job.run)


def only(rules: RunRules, subject: RuleSubject) -> RuleOutcome:
    (result,) = check_rules(rules, subject)
    assert result.said
    return result.outcome


def good_verdict(subject: RuleSubject) -> GivenVerdict:
    return GivenVerdict("a" * 64, subject.facts.about, "VERIFIED", 1.0)


def test_ranges_hold_at_both_ends_and_break_beyond(subject: RuleSubject) -> None:
    facts = subject.facts
    for name, count in (
        ("operations", facts.total_operations),
        ("parameters", facts.parameters),
        ("steps", facts.steps),
        ("batch_size", facts.batch_size),
    ):
        for allowed, outcome in (
            ((count, count), HELD), ((0, count - 1), BROKEN), ((count + 1, count + 2), BROKEN),
        ):  # fmt: skip
            assert only(RunRules(**{name: allowed}), subject) is outcome, name


def test_what_binds_each_outcome_is_said(subject: RuleSubject) -> None:
    def bound(rules: RunRules, verdicts: tuple[GivenVerdict, ...] = ()) -> str:
        *_, result = check_rules(rules, replace(subject, verdicts=verdicts))
        return result.bound_by

    assert bound(RunRules(steps=(0, 10**6))) == bound(RunRules(epochs=0.0)) == "order digest, run root"
    assert bound(RunRules(must=(Digest.of(b"another"),))) == bound(RunRules(exact=False)) == "order digest"
    assert bound(RunRules(scalars={"no such": (0.0, 1.0)})) == "nothing"
    auditors = ("a" * 64,)
    verdict = replace(good_verdict(subject), reaches_end=True)
    assert bound(RunRules(auditors=auditors)) == "nothing"
    assert bound(RunRules(auditors=auditors), (verdict,)) == "an auditor's signature"
    losses, low = RunRules(final_loss=(-1e9, 1e9), auditors=()), RunRules(final_loss=(-2.0, -1.0))
    assert bound(losses) == "nothing"
    assert bound(low) == "the trainer's signature"
    loss, _ = check_rules(replace(losses, auditors=auditors), replace(subject, verdicts=(verdict,)))
    assert (loss.outcome, loss.bound_by) == (HELD, "an auditor's signature")


def test_data_must_or_must_not_have_a_digest(subject: RuleSubject, digits_job: Job) -> None:
    images = subject.facts.data[0].digest
    strange = Digest.of(b"another")
    for digest, there in ((images, True), (subject.data_root, True), (strange, False)):
        assert only(RunRules(must=(digest,)), subject) is (HELD if there else BROKEN)
    name = subject.facts.data[0].name
    for digest, there in ((images, True), (strange, False)):
        asked = RunRules(must_not={name: (digest,)})
        assert only(asked, subject_of(digits_job.run, names=asked.must_not)) is (BROKEN if there else HELD)
    epochs = max(use.epochs for use in subject.facts.data)
    assert only(RunRules(epochs=epochs), subject) is HELD
    assert only(RunRules(epochs=epochs - 0.001), subject) is BROKEN


def test_data_that_must_not_be_there_are_found_under_another_name(subject: RuleSubject, digits_job: Job) -> None:
    """The name is in the digest: whoever calls the array otherwise had kept the rule."""
    with BundleReader.open(digits_job.run) as reader:
        first = subject.facts.data[0].name
        theirs = tensor_digest("licensed pictures", reader.data(first))
    asked = RunRules(must_not={"licensed pictures": (theirs,)})
    read = subject_of(digits_job.run, names=asked.must_not)
    (result,) = check_rules(asked, read)
    assert (result.outcome, result.said) == (BROKEN, f"The order has it: {first}.")
    # Where its bytes are not there, nobody says that it is another one; under its own name it is told all the same.
    assert only(asked, subject) is CANNOT
    assert only(RunRules(must_not={first: (subject.facts.data[0].digest,)}), subject) is BROKEN


def test_scalars_are_those_of_the_steps_that_were_run(subject: RuleSubject, digits_job: Job) -> None:
    with BundleReader.open(digits_job.run) as reader:
        rates = np.asarray(reader.scalars())[: reader.extent.steps, reader.manifest.scalar_names.index("lr")]
    low, high = float(rates.min()), float(rates.max())
    assert only(RunRules(scalars={"lr": (low, high)}), subject) is HELD
    assert only(RunRules(scalars={"lr": (low, high * 0.99)}), subject) is BROKEN
    assert only(RunRules(scalars={"lr": (low * 1.01, high)}), subject) is BROKEN
    assert only(RunRules(scalars={"dropout": (0.0, 1.0)}), subject) is CANNOT


def test_precision_and_programs(subject: RuleSubject) -> None:
    ((_, program),) = subject.facts.program_digests
    assert only(RunRules(compute=("float64",)), subject) is HELD
    assert only(RunRules(compute=("float32",)), subject) is BROKEN
    assert only(RunRules(exact=False), subject) is HELD
    assert only(RunRules(exact=True), subject) is BROKEN
    assert only(RunRules(programs=(program,)), subject) is HELD
    assert only(RunRules(programs=(Digest.of(b"other"),)), subject) is BROKEN


def test_performance_is_the_loss_of_the_last_step(subject: RuleSubject, digits_job: Job) -> None:
    with BundleReader.open(digits_job.run) as reader:
        loss = float(reader.losses()[reader.extent.steps - 1])
    assert subject.final_loss == loss
    seen = replace(good_verdict(subject), reaches_end=True)
    rules = RunRules(final_loss=(loss, loss), auditors=(seen.auditor,))
    for verdicts, outcome in (
        ((seen,), HELD),
        ((), CANNOT),  # the trainer alone says so
        ((replace(seen, reaches_end=False),), CANNOT),
        ((replace(seen, withdrawn=True),), CANNOT),
        ((replace(seen, outcome="INCONCLUSIVE"),), CANNOT),
        ((seen, replace(seen, outcome="DISPUTED")), CANNOT),
    ):
        judged = check_rules(rules, replace(subject, verdicts=verdicts))[0]
        assert (judged.rule, judged.outcome) == ("performance.final_loss", outcome), verdicts
    assert only(RunRules(final_loss=(loss, loss)), replace(subject, verdicts=(seen,))) is CANNOT
    assert only(RunRules(final_loss=(0.0, loss - 1e-6)), subject) is BROKEN
    for none in (None, float("nan")):
        assert only(RunRules(final_loss=(0.0, 9.0)), replace(subject, final_loss=none)) is CANNOT


def test_a_verdict_counts_by_auditor_run_coverage_and_outcome(subject: RuleSubject) -> None:
    good = good_verdict(subject)
    rules = RunRules(auditors=("a" * 64,), replayed=0.5)
    for verdicts, outcome in (
        ((good,), HELD),
        ((replace(good, replayed=0.4),), CANNOT),
        ((replace(good, withdrawn=True),), CANNOT),
        ((replace(good, withdrawn=True, outcome="DISPUTED"),), CANNOT),
        ((replace(good, replayed=0.4), good), HELD),
        ((good, replace(good, outcome="DISPUTED")), BROKEN),
        ((), CANNOT),
        ((replace(good, auditor="b" * 64),), CANNOT),
        ((replace(good, about=None),), CANNOT),
        *(
            ((replace(good, about=structs.replace(subject.facts.about, **other)),), CANNOT)
            for other in ({"run_root": Digest.of(b"x")}, {"order": Digest.of(b"x")}, {"trainer_key": "b" * 64})
        ),
        ((replace(good, outcome="INCONCLUSIVE"),), CANNOT),
    ):
        assert only(rules, replace(subject, verdicts=verdicts)) is outcome, verdicts


def test_a_verdict_of_the_trainers_own_does_not_count(subject: RuleSubject) -> None:
    own = replace(good_verdict(subject), auditor=subject.facts.trainer_key)
    assert only(RunRules(auditors=(own.auditor,)), replace(subject, verdicts=(own,))) is CANNOT


def test_one_broken_rule_breaks_all(subject: RuleSubject) -> None:
    rules = RunRules(steps=(0, 0), parameters=(0, 1e12), auditors=("a" * 64,))
    assert outcome_of(check_rules(rules, subject)) is BROKEN
    assert outcome_of(check_rules(replace(rules, steps=None), subject)) is CANNOT
    assert outcome_of(check_rules(replace(rules, steps=None, auditors=()), subject)) is HELD


# The file


@pytest.mark.parametrize(
    "text",
    [
        "[compute]\noperation = [0, 1]",
        "[computes]\n",
        "[compute]\n[hyperparameters]\nsteps = [0, 1]",
        "[data]\nmust = []\n[hyperparameters]\nsteps = [0, 1]",
        "[hyperparameters]\nsteps = [0, 1]\n[hyperparameters.scalars]",
        "[hyperparameters]\nsteps = [0, 1]\n[verdict]\nreplayed = 1.0",
        "[hyperparameters]\nsteps = [0, 1]\n[verdict]\nauditors = []",
        "[hyperparameters]\nsteps = [0, " + "9" * 5000 + "]",
        ".".join("a" * 30_000) + " = 1",
        "x = {" + ".".join("a" * 30_000) + " = 1}",
        "x = " + "[" * 50_000,
        "[compute]\noperations = 5",
        "[compute]\noperations = [2, 1]",
        "[compute]\noperations = [0, nan]",
        "[compute]\noperations = [0, true]",
        "[compute]\noperations = [0, 1, 2]",
        "[data]\nmust = ['ab']",
        "[data]\nmust = 'ab'",
        "[precision]\nexact = 1",
        "[hyperparameters]\nscalars.lr = 1",
        "compute = 1",
        "title = 1",
        "x",
    ],
)
def test_what_is_not_understood_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text("[compute]\noperations = [0, 1]")
    assert read_rules(path)[0] == RunRules(operations=(0.0, 1.0))
    path.write_text(text)
    with pytest.raises(CounterfoilError):
        read_rules(path)
    path.write_bytes(b"\xff")
    with pytest.raises(GivenFileError, match="no TOML file"):
        read_rules(path)


@pytest.mark.parametrize("number", ["9" * 400, "-" + "9" * 400, "9" * 4000, "0x" + "f" * 6000, "9" * 5000])
@pytest.mark.parametrize(
    "rule",
    [
        "compute.operations = [0, {}]",
        "compute.operations = [{}, 0]",
        "data.epochs = {}",
        "performance.final_loss = [0, {}]",
    ],
)
def test_an_integer_longer_than_any_number_is_refused_in_a_sentence(rule: str, number: str, tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(rule.format(number))
    with pytest.raises(GivenFileError, match=r"a number that is none|no TOML file"):
        read_rules(path)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_are_rules(path: Path, digits_job: Job) -> None:
    rules, _ = read_rules(path)
    results = check_rules(rules, subject_of(digits_job.run, names=rules.must_not))
    assert results
    said = {result.rule: result.outcome for result in results}
    assert said.pop("verdict", CANNOT) is CANNOT
    # The data and the loss are those of the whole demonstration, of which this run has a part.
    others = {name: outcome for name, outcome in said.items() if name not in ("performance.final_loss", "data.must")}
    assert set(others.values()) <= {HELD}


# Signed


def test_a_statement_is_checked_again(subject: RuleSubject, tmp_path: Path) -> None:
    results = check_rules(RunRules(steps=(0, 100)), subject)
    rules = Digest.of(b"rules")
    envelope = sign_said(RulesStatement(rules, results_of(results), subject.facts.about), KEY)
    found = open_said(RulesStatement, envelope, KEY.public)
    assert (found.rules, found.run, found.results) == (rules, subject.facts.about, results_of(results))
    with pytest.raises(SignatureError):
        open_said(RulesStatement, envelope, OTHER.public)
    told = json.loads(envelope)
    payload = base64.b64decode(told["payload"])
    told["payload"] = base64.b64encode(payload.replace(b'"HELD"', b'"HELT"')).decode()
    with pytest.raises(SignatureError):
        open_said(RulesStatement, json.dumps(told).encode(), KEY.public)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_a_stranger_checks_the_signature_and_a_rule(subject: RuleSubject, digits_job: Job, tmp_path: Path) -> None:
    """With OpenSSL, TOML and h5py alone: the number of steps that the file of the run holds."""
    import h5py

    text = "[hyperparameters]\nsteps = [1, 1000]\n"
    rules = _rules(tomllib.loads(text))
    results = check_rules(rules, subject)
    (tmp_path / "said.json").write_bytes(
        sign_said(RulesStatement(Digest.of(text.encode()), results_of(results), subject.facts.about), KEY)
    )
    (tmp_path / "key.pem").write_text(KEY.public.pem)
    lines = """
        sed -n 's/.*"payload":"\\([^"]*\\)".*/\\1/p' said.json | openssl base64 -d -A > payload.json
        sed -n 's/.*"sig":"\\([^"]*\\)".*/\\1/p' said.json | openssl base64 -d -A > signature.bin
        printf 'DSSEv1 28 application/vnd.in-toto+json %d ' "$(wc -c < payload.json)" > signed.bin
        cat payload.json >> signed.bin
        openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in signed.bin -sigfile signature.bin
    """
    done = subprocess.run(["sh", "-c", lines], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "Signature Verified Successfully" in done.stdout
    (said,) = json.loads((tmp_path / "payload.json").read_text())["predicate"]["results"]
    with h5py.File(digits_job.run) as file:
        steps = len(file["order/schedule"])
    low, high = tomllib.loads(text)["hyperparameters"]["steps"]
    assert said["outcome"] == ("HELD" if low <= steps <= high else "BROKEN") == "HELD"


def test_a_given_verdict_must_be_an_auditors(subject: RuleSubject) -> None:
    envelope = sign_verdict(verified_report(), KEY)
    found = given_verdict(open_judgement(envelope, NO_TRUST, [OTHER.public, KEY.public]))
    assert found.auditor == KEY.public.key_id
    with pytest.raises(SignatureError, match="none of the auditors"):
        open_judgement(envelope, NO_TRUST, [OTHER.public, THIRD.public])


def test_a_verdict_that_was_taken_back_or_whose_key_was_revoked_does_not_count() -> None:
    envelope = sign_verdict(verified_report(), KEY)
    digest = verdict_digest(envelope)

    def given(*beside: tuple[str, bytes], store: TrustStore = NO_TRUST) -> GivenVerdict:
        return given_verdict(open_judgement(envelope, store, [KEY.public], beside))

    fresh = given()
    assert (fresh.withdrawn, fresh.reaches_end, fresh.replayed) == (False, True, 1.0)
    by_auditor = ("w.json", sign_said(Withdrawal(digest, "wrong run", None), KEY))
    by_another = ("o.json", sign_said(Withdrawal(digest, "wrong run", None), OTHER))
    of_another = ("x.json", sign_said(Withdrawal(Digest.of(b"another"), "wrong run", None), KEY))
    assert given(by_auditor).withdrawn
    assert given(store=store_of(later=[by_auditor])).withdrawn
    assert not given(by_another, of_another, ("junk", b"{")).withdrawn
    for key, since, gone in ((KEY, "2020-01-01T00:00:00Z", True), (OTHER, "2020-01-01T00:00:00Z", False)):
        entry = Revocation(key.public.key_id, since, Cause.COMPROMISED, "lost")
        listed = open_said(RevocationList, sign_said(RevocationList.of_keys([entry], 1), THIRD), THIRD.public)
        assert given(store=store_of(lists=[listed])).withdrawn is gone


def test_the_commands(digits_job: Job, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = str(digits_job.run)
    Path("rules.toml").write_text("[hyperparameters]\nsteps = [1, 1000]\n")
    Path("strict.toml").write_text("[hyperparameters]\nsteps = [0, 0]\n")
    Path("asks.toml").write_text(f"[verdict]\nauditors = ['{'0' * 64}']\n")
    assert main(["keygen", "k.pem", "--no-passphrase"]) == 0
    assert [main(["rules", f"{name}.toml", run]) for name in ("rules", "strict", "asks")] == [0, 1, 2]
    assert main(["rules", "rules.toml", run, "--key", "k.pem", "--out", "said.json"]) == 0
    verify = ["verify", "said.json", "rules.toml", run, "--key", "k.pub.pem"]
    capsys.readouterr()
    assert main(verify) == 0
    assert "every rule comes out as it was signed" in " ".join(capsys.readouterr().out.split())
    Path("rules.toml").write_text("[hyperparameters]\nsteps = [1, 1001]\n")
    assert main(verify) == 3
    assert "it is about other rules" in capsys.readouterr().out
    assert main(["rules", "rules.toml", run, "--out", "x.json"]) == 4
    capsys.readouterr()
    assert main(["rules", "rules.toml", run, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["outcome"] == "HELD"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "title = 'x'",
        "[compute]",
        "[data]\nmust = []",
        "[data]\nmust_not = {}",
        "[data.must_not]\nx = []",
        "[verdict]\nreplayed = 0.5",
    ],
)
def test_a_file_that_asks_for_nothing_is_an_error(
    text: str, digits_job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rules.toml").write_text(text)
    assert main(["rules", str(tmp_path / "rules.toml"), str(digits_job.run)]) == 4
    said = " ".join(capsys.readouterr().err.split())
    assert "asks for nothing" in said
    assert "docs/rules.md lists the" in said
    (tmp_path / "rules.toml").write_text("[hyperparameters]\nsteps = [1, 1000]")
    assert main(["rules", str(tmp_path / "rules.toml"), str(digits_job.run)]) == 0

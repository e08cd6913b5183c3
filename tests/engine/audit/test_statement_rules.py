"""A signed statement is read into a strict form, and judged by numbered rules."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from counterfoil import __version__
from counterfoil.cli.jsonform import as_json
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.signing.envelope import sign_statement
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.kinds import RUN, SHARE, statement_of
from counterfoil_core.signing.statements import read_said
from counterfoil_core.statement.dispute_rules import _wrong_finding
from counterfoil_core.statement.factfields import MAX_LINES
from counterfoil_core.statement.judgement import Adjudication, Verdict
from counterfoil_core.statement.model import (
    MAX_INPUTS,
    MAX_SENTENCE,
    AdjudicationStatement,
    Number,
    VerdictStatement,
)
from counterfoil_core.statement.rules import RULES, judge
from counterfoil_core.statement.verdict import preview_verdict, verify_signed
from counterfoil_core.statement.write import adjudication_statement, verdict_statement
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.beacon import QUICKNET
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from counterfoil_core.values.report import AuditReport
from counterfoil_core.values.sampling import NonceSource, Sample, Selection, draw_segments, ranges
from counterfoil_core.values.workers import Place, ReplayedAt
from support.bundles import test_key
from support.reports import (
    STEP,
    STEPS,
    adjudication_report,
    checks,
    disputed_report,
    exact_report,
    run_facts,
    trees,
    verified_report,
)

PAGE = Path(__file__).parents[3] / "docs" / "verdict.md"
TIME = datetime(2026, 1, 31, 12, tzinfo=UTC)
Change = Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> SigningKey:
    return test_key(Path(tmp_path_factory.mktemp("keys")))


PART = {"parts": ["shares", "state", "loss", "fingerprints"]}
ROUND = {"chain": QUICKNET, "round": 7, "signature": "ab" * 48}


def sampled_statement() -> dict[str, Any]:
    """A verdict on a sample of three of the twelve segments."""
    nonce, root = "ab" * 32, trees()[0].root
    sample = Sample(12, tuple(ranges(draw_segments(12, 3, nonce, root))), Selection.RANDOM, nonce, 1, NonceSource.DRAWN)
    report = replace(
        verified_report(),
        sample=sample,
        steps_planned=15,
        steps_replayed=15,
        checks=checks(COVERAGE=CheckState.WARNING),
    )
    return statement_of(verdict_statement(report, TIME))


def shared_statement() -> dict[str, Any]:
    """A verdict on a run of twelve segments that two machines replayed."""
    one, other = (Place(name, (("device", "cpu"),)) for name in ("one", "other"))
    replayed_at = (ReplayedAt(one, ((1, 4), (9, 12))), ReplayedAt(other, ((5, 8),)))
    return statement_of(verdict_statement(replace(verified_report(), replayed_at=replayed_at), TIME))


def fact(statement: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """The facts in a verdict, some of them changed."""
    facts: dict[str, Any] = statement["predicate"]["facts"]
    facts.update(changed)
    return facts


def unread_statement() -> dict[str, Any]:
    """A verdict on a file of which nothing could be read."""
    report = replace(
        verified_report(), outcome=Outcome.ERROR, order_digest=None, order_source="bundle", run_order=None,
        run_root=None, trainer_key="", accepted_at="", steps_ordered=0, steps_recorded=0, steps_planned=0, sample=None,
        steps_replayed=0, steering=None, checks=checks(**{number.name: CheckState.SKIPPED for number in CheckNumber}),
    )  # fmt: skip
    return statement_of(verdict_statement(report, TIME))


def segments_of(statement: dict[str, Any], number: int) -> list[list[int]]:
    """The segments of one of the machines, to be changed."""
    spans: list[list[int]] = statement["predicate"]["replayedAt"][number]["segments"]
    return spans


def ends_early(statement: dict[str, Any], part: str, **recorded: int) -> None:
    """Let a statement be about a run of so many steps, with the claim that such a run has."""
    statement["predicate"][part].update(recorded)
    statement["predicate"]["inputAttestations"][-1].update(predicateType=RUN.short)


STATEMENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "verified": lambda: statement_of(verdict_statement(verified_report(), TIME)),
    "sampled": sampled_statement,
    "shared": shared_statement,
    "facts": lambda: statement_of(verdict_statement(replace(verified_report(), facts=run_facts()), TIME)),
    "exact": lambda: statement_of(verdict_statement(exact_report(), TIME)),
    "disputed": lambda: statement_of(verdict_statement(disputed_report(), TIME)),
    "confirmed": lambda: statement_of(adjudication_statement(adjudication_report(AdjudicationOutcome.CONFIRMED), TIME)),
    "rejected": lambda: statement_of(adjudication_statement(adjudication_report(AdjudicationOutcome.REJECTED), TIME)),
}
BROKEN: list[tuple[int, str, Change, str]] = [
    (1, "verified", lambda s: s["predicate"]["verifier"].update(id="urn:other"), "not made by Counterfoil"),
    (1, "rejected", lambda s: s["predicate"]["verifier"].update(id="urn:other"), "not made by Counterfoil"),
    (2, "verified", lambda s: s["subject"].reverse(), "should be the bundle file and the run"),
    (2, "verified", lambda s: s["subject"][1].update(name="another"), "second subject is not the run"),
    (2, "verified", lambda s: s["subject"].append(s["subject"][1]), "third subject is not the model"),
    (2, "disputed", lambda s: s["subject"].append(s["subject"][0]), "third subject is not the model"),
    (2, "confirmed", lambda s: s["subject"].append(s["subject"].pop(0)), "should be the bundle file and the run"),
    (2, "verified", lambda s: s["subject"][1].update(digest={"sha256": "00" * 32}), "second subject is not the run"),
    (2, "verified", lambda s: s["subject"].insert(1, s["subject"][0]), "second subject is not the run"),
    (2, "confirmed", lambda s: s["subject"][1].update(name="runs"), "second subject is not the run"),
    (3, "verified", lambda s: s["predicate"]["inputAttestations"][0].update(predicateType="urn:x"), "something else"),
    (4, "verified", lambda s: s["predicate"]["checks"].pop(), "every check once and in order"),
    (4, "rejected", lambda s: s["predicate"]["checks"].reverse(), "every check once and in order"),
    (5, "verified", lambda s: s["predicate"]["coverage"].update(stepsPlanned=61), "must lie in 0 to 60"),
    (5, "verified", lambda s: s["predicate"]["coverage"].update(stepsPlanned=59), "must lie in 0 to 59"),
    (5, "disputed", lambda s: s["predicate"]["coverage"].update(mismatchedSteps=[[37, 61]]), "not ranges of 1 to 60"),
    (5, "disputed", lambda s: s["predicate"]["coverage"].update(mismatchedSteps=[[37, 38], [39, 39]]), "not in order"),
    (6, "confirmed", lambda s: s["predicate"]["steps"].update(agreed=38), "must lie in 0 to 37"),
    (6, "confirmed", lambda s: s["predicate"]["steps"].update(replayed=3), "must lie in 0 to 2"),
    (
        7,
        "sampled",
        lambda s: s["predicate"]["coverage"]["sample"].update(nonce="cd" * 32),
        "nonce and the run root draw",
    ),
    (7, "sampled", lambda s: s["predicate"]["coverage"]["sample"].update(badSegments=2), "another probability"),
    (7, "sampled", lambda s: s["predicate"]["coverage"]["sample"].update(nonce=""), "incomplete, or says more"),
    (
        7,
        "sampled",
        lambda s: s["predicate"]["coverage"]["sample"].update(
            badSegments=0, passingProbability={"hex": "0x1.0000000000000p+0", "decimal": "1.0"}
        ),
        "incomplete, or says more",
    ),
    (7, "verified", lambda s: s["predicate"]["coverage"]["sample"].update(badSegments=1), "incomplete, or says more"),
    (7, "sampled", lambda s: s["predicate"]["coverage"]["sample"].update(nonceSource=None), "incomplete, or says more"),
    (7, "sampled", lambda s: s["predicate"]["coverage"]["sample"].update(nonceSource="beacon"), "incomplete, or says"),
    (7, "sampled", lambda s: s["predicate"]["coverage"]["sample"].update(beacon=ROUND), "incomplete, or says more"),
    (
        7,
        "sampled",
        lambda s: s["predicate"]["coverage"]["sample"].update(nonceSource="beacon", beacon=ROUND),
        "not the randomness",
    ),
    (
        7,
        "sampled",
        lambda s: s["predicate"]["coverage"]["sample"].update(nonceSource="beacon", beacon=ROUND | {"chain": "0" * 64}),
        "a beacon that is not known",
    ),
    (7, "verified", lambda s: s["predicate"]["coverage"]["sample"].update(nonceSource="drawn"), "incomplete, or says"),
    (7, "verified", lambda s: s["predicate"]["coverage"]["sample"].update(chosen=[[1, 11]]), "lists fewer"),
    (8, "verified", lambda s: s["predicate"]["counts"].update(logEntries="1"), "do not add up to its log entries"),
    (8, "verified", lambda s: s["predicate"].update(withoutBound=["sum", "mm"]), "not a sorted list"),
    (8, "verified", lambda s: s["predicate"].update(exactBits=20), "an exact profile, which has none"),
    (8, "exact", lambda s: s["predicate"]["counts"].update(logBytes="1"), "an exact profile, which has none"),
    (8, "exact", lambda s: s["predicate"]["counts"].update(omissions="1"), "an exact profile, which has none"),
    (8, "exact", lambda s: s["predicate"].update(withoutBound=["sum"]), "an exact profile, which has none"),
    (12, "exact", lambda s: s["predicate"].update(exactBits=None), "account of the log does not belong"),
    (9, "disputed", lambda s: s["predicate"]["dispute"].update(comparedAt=36), "at a step that cannot be"),
    (9, "disputed", lambda s: s["predicate"]["dispute"].update(inputs=["labels"]), "differs already"),
    (9, "disputed", lambda s: s["predicate"]["dispute"]["operator"].update(number=194), "must lie in 1 to 193"),
    (9, "disputed", lambda s: s["predicate"]["dispute"].update(replayLeaf=None), "without a replay"),
    (9, "confirmed", lambda s: s["predicate"]["dispute"].update(step=61), "must lie in 1 to 60"),
    (9, "disputed", lambda s: s["predicate"]["dispute"].update(parts=["shares", "state"]), "names no part of the step"),
    (9, "disputed", lambda s: s["predicate"]["dispute"].update(part="share 2"), "that does not differ"),
    (9, "disputed", lambda s: s["predicate"]["dispute"].update(PART, part="update"), "that does not differ"),
    (
        9,
        "disputed",
        lambda s: s["predicate"]["dispute"].update(PART, part="combine"),
        "of a combination, which has none",
    ),
    (10, "disputed", lambda s: s["predicate"]["dispute"]["comparisons"].pop(0), "do not lead from the run root"),
    (10, "disputed", lambda s: s["predicate"]["dispute"]["inclusionProof"].pop(), "does not prove"),
    (10, "confirmed", lambda s: s["predicate"]["dispute"].update(trainerLeaf="00" * 32), "does not prove"),
    (
        11,
        "verified",
        lambda s: s["predicate"]["checks"][0].update(state="running"),
        "verdict contradicts .* not finished",
    ),
    (
        11,
        "verified",
        lambda s: (s["subject"].pop(), s["predicate"].update(inputAttestations=[])),
        "check 5 was passed without a run root",
    ),
    (11, "verified", lambda s: s["subject"].pop(), "check 5 was passed without a run root"),
    (
        11,
        "rejected",
        lambda s: s["predicate"].update(inputAttestations=[]),
        "adjudication contradicts .* come together",
    ),
    (3, "verified", lambda s: s["predicate"]["inputAttestations"].reverse(), "something else"),
    (
        3,
        "verified",
        lambda s: s["predicate"]["inputAttestations"].extend(
            {"predicateType": SHARE.predicate, "keyId": key * 32} for key in ("bb", "aa")
        ),
        "not in order",
    ),
    (
        3,
        "verified",
        lambda s: s["predicate"]["inputAttestations"].insert(0, {"predicateType": SHARE.predicate, "keyId": "aa" * 32}),
        "not in order",
    ),
    (11, "verified", lambda s: s["predicate"].update(result="REFUSED"), "every check was passed"),
    (11, "verified", lambda s: s["predicate"].update(result="ERROR"), "every check was passed"),
    (3, "verified", lambda s: s["predicate"]["inputAttestations"].pop(), "another key accepted"),
    (3, "confirmed", lambda s: s["predicate"]["inputAttestations"][0].update(keyId="ab" * 32), "another key accepted"),
    (11, "verified", lambda s: s["predicate"]["inputAttestations"].pop(0), "without the trainer's acceptance"),
    (11, "verified", lambda s: s["predicate"]["policy"].update(clientKeyId="ab" * 32), "did not sign the order"),
    (11, "verified", lambda s: s["predicate"]["policy"].update(orderSource="signature"), "key that was not given"),
    (12, "verified", lambda s: s["predicate"].update(steering=None), "does not belong to the replayed steps"),
    (12, "disputed", lambda s: s["predicate"]["coverage"].update(mismatchedSteps=[]), "check 8 is not what"),
    (
        13,
        "disputed",
        lambda s: s["predicate"]["dispute"].update(confirmed=False, finding=None),
        "not what its dispute says",
    ),
    (13, "disputed", lambda s: s["predicate"].update(dispute=None), "names no step"),
    (
        11,
        "verified",
        lambda s: s["predicate"]["checks"][6].update(state="warning"),
        "check 7 warns, which",
    ),
    (
        11,
        "disputed",
        lambda s: s["predicate"]["checks"][2].update(state="warning"),
        "check 3 warns, which",
    ),
    (
        14,
        "sampled",
        lambda s: s["predicate"]["coverage"].update(stepsReplayed=14),
        "not every chosen step was replayed",
    ),
    (15, "confirmed", lambda s: s["predicate"].update(result="INCONCLUSIVE"), "not what its dispute says"),
    (15, "confirmed", lambda s: s["predicate"]["steps"].update(replayed=1), "was not replayed"),
    (16, "rejected", lambda s: s["predicate"]["steps"].update(replayed=1), "did not replay every step"),
    (17, "shared", lambda s: segments_of(s, 1)[0].__setitem__(0, 4), "two machines"),
    (17, "shared", lambda s: segments_of(s, 0)[1].__setitem__(1, 13), "not ranges of 1 to 12"),
    (17, "shared", lambda s: segments_of(s, 0).reverse(), "not in order"),
    (17, "shared", lambda s: s["predicate"]["replayedAt"].pop(), "not where every segment was replayed"),
    (18, "verified", lambda s: ends_early(s, "coverage", stepsRecorded=STEPS), "it must lie in 1 to 59"),
    (18, "confirmed", lambda s: ends_early(s, "steps", recorded=STEPS), "it must lie in 1 to 59"),
    (19, "verified", lambda s: s["predicate"].update(reasonParts=["All is lost."]), "another sentence.*'reason'"),
    (19, "rejected", lambda s: s["predicate"]["checks"][4].update(detailParts=["{0}", 5]), "another.*'check 5'"),
    (
        19,
        "disputed",
        lambda s: s["predicate"]["dispute"]["finding"].update(sentenceParts=["The trainer is right."]),
        "another.*'finding'",
    ),
    (20, "facts", lambda s: fact(s, run_root="ab" * 32), "another run"),
    (20, "facts", lambda s: fact(s, order="ab" * 32), "another run"),
    (20, "facts", lambda s: fact(s, trainer_key="ab" * 32), "another run"),
    (20, "facts", lambda s: fact(s, client_key="ab" * 32), "another run"),
    (20, "facts", lambda s: fact(s, steps=59), "another run"),
    (20, "facts", lambda s: fact(s, exact_bits=20), "another run"),
    (20, "facts", lambda s: fact(s, machine={"device": "abacus"}), "another run"),
    (20, "facts", lambda s: fact(s, energy_kwh="5"), "an energy"),
    (20, "facts", lambda s: fact(s, total_operations=str(10**24)), "do not add up"),
    (20, "facts", lambda s: fact(s, compute="float32"), "another precision"),
    (20, "facts", lambda s: fact(s)["operations"].reverse(), "not in order"),
    (20, "facts", lambda s: fact(s)["operations"][1].update(precision="20 bits"), "another precision"),
    (20, "facts", lambda s: fact(s)["operations"][1].update(operations="13"), "do not add up"),
    (20, "facts", lambda s: fact(s)["data"].reverse(), "data of its facts are not in order"),
    (20, "facts", lambda s: fact(s)["data"][0].update(rows_read="471"), "cannot have been read"),
    (20, "facts", lambda s: fact(s)["data"][0].update(distinct_rows="101"), "cannot have been read"),
    (20, "facts", lambda s: fact(s)["data"][0].update(elements_read="2821"), "cannot have been read"),
    (20, "facts", lambda s: fact(s)["data"][0].update(filling_rows="11"), "cannot have been read"),
    (20, "facts", lambda s: fact(s)["data"][0].update(shape=[]), "cannot have been read"),
    (20, "facts", lambda s: fact(s, seconds=3601), "another duration"),
    (20, "facts", lambda s: fact(s, seconds=None), "another duration"),
    (20, "facts", lambda s: fact(s, started="2026-02-30T00:00:00Z"), "a moment that is none"),
]


@pytest.mark.parametrize("name", STATEMENTS)
def test_what_keeps_every_rule_is_read(name: str, key: SigningKey) -> None:
    value = STATEMENTS[name]()
    signed = verify_signed(sign_statement(value, key), key.public)
    assert isinstance(signed, Adjudication if name in ("confirmed", "rejected") else Verdict)
    assert signed.predicate == value["predicate"], "all that was written is read, and nothing else"
    assert signed.key_id == key.public.key_id


@pytest.mark.parametrize(("number", "name", "change", "words"), BROKEN)
def test_a_broken_rule_is_named(number: int, name: str, change: Change, words: str, key: SigningKey) -> None:
    value = copy.deepcopy(STATEMENTS[name]())
    change(value)
    with pytest.raises(SignatureError, match=words) as caught:
        verify_signed(sign_statement(value, key), key.public)
    assert caught.value.detail.startswith(f"rule {number}: ")
    assert caught.value.remedy


@pytest.mark.parametrize("sizes", [("0.0", "0.0"), ("0.5", "0.0"), ("0.0", "0.5")])
def test_under_an_exact_profile_a_finding_has_neither_bound_nor_margin(sizes: tuple[str, str], key: SigningKey) -> None:
    def read(name: str) -> Any:
        return verify_signed(sign_statement(STATEMENTS[name](), key), key.public)

    margin, bound = (Number(float(size).hex(), size) for size in sizes)
    exact, finding = read("exact"), read("disputed").statement.dispute.finding
    said = [str(each) for each in _wrong_finding(msgspec.structs.replace(finding, margin=margin, bound=bound), exact)]
    assert any("under an exact profile" in each and "has a bound or a margin" in each for each in said) == (
        sizes != ("0.0", "0.0")
    )


def test_every_rule_has_its_case() -> None:
    assert {number for number, *_ in BROKEN} == {rule.number for rule in RULES}


def test_the_page_lists_the_rules() -> None:
    kinds = {"both": (Verdict, Adjudication), "verdict": (Verdict,), "adjudication": (Adjudication,)}
    rows = re.findall(r"^\| rule (\d+) \| (\w+) \| ([^|]+) \| [^|]+ \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert [(int(number), kinds[about], name) for number, about, name in rows] == [
        (rule.number, rule.about, rule.name) for rule in RULES
    ]
    assert [rule.number for rule in RULES] == list(range(1, len(RULES) + 1))
    for rule in RULES:
        assert (rule.judge.__doc__ or "").startswith(f"Rule {rule.number}: "), rule.name


def with_fact(**changed: Any) -> dict[str, Any]:
    """The facts of a verdict, some of them changed, or one more."""
    return fact(STATEMENTS["facts"](), **changed)


def test_control_the_same_facts_unchanged_are_read(key: SigningKey) -> None:
    value = STATEMENTS["disputed"]()
    value["predicate"]["facts"] = with_fact()
    verify_signed(sign_statement(value, key), key.public)


def test_no_facts_of_what_was_not_checked(key: SigningKey) -> None:
    value = unread_statement()
    verify_signed(sign_statement(value, key), key.public)
    value["predicate"]["facts"] = with_fact()
    with pytest.raises(SignatureError, match="facts of a run that was not checked") as caught:
        verify_signed(sign_statement(value, key), key.public)
    assert caught.value.detail.startswith("rule 20: ")


def test_a_fact_that_is_missing_is_refused(key: SigningKey) -> None:
    for name in with_fact():
        value = STATEMENTS["facts"]()
        del value["predicate"]["facts"][name]
        with pytest.raises(SignatureError, match=name):
            verify_signed(sign_statement(value, key), key.public)


def test_facts_are_read_as_they_were_counted(key: SigningKey) -> None:
    said = verify_signed(sign_statement(STATEMENTS["facts"](), key), key.public)
    assert isinstance(said, Verdict)
    assert said.run_facts == run_facts()
    assert said.run_facts.total_operations > 10**24
    plain = verify_signed(sign_statement(STATEMENTS["verified"](), key), key.public)
    assert isinstance(plain, Verdict)
    assert plain.run_facts is None


@pytest.mark.parametrize(
    ("report", "digest"),
    [
        (verified_report, "d1dcf6545f75db74814ef1cadcd62bf7242af04c2faa8a481ef1990566195bdf"),
        (exact_report, "e3cb8a3a53ae2da9bccae803e471823137447f5531aa84b12d1f5d8c682b2cda"),
        (disputed_report, "ebd0743839b7f66148565e4c9f2340c6a95d1878adbaf19b9b056ab466a381a3"),
    ],
)
def test_without_facts_a_verdict_is_byte_for_byte_what_it_was(report: Callable[[], AuditReport], digest: str) -> None:
    """The SHA-256 of what is signed, from before verdicts could state facts; the version apart."""

    def signed(report: AuditReport) -> bytes:
        version = f'"version":"{__version__}"'.encode()
        return preview_verdict(report, TIME).replace(version, b'"version":"x"')

    assert Digest.of(signed(report())).hex == digest
    assert Digest.of(signed(replace(report(), facts=run_facts()))).hex != digest


MALFORMED: dict[str, tuple[Change, str]] = {
    "a truth as a number": (lambda s: s["predicate"]["coverage"].update(stepsOrdered=True), "coverage.stepsOrdered"),
    "a list as a digest": (lambda s: s["predicate"]["policy"]["orderDigest"].update(sha256=["0"] * 64), "sha256"),
    "capitals in a digest": (lambda s: s["subject"][0]["digest"].update(sha256="A" * 64), r"subject\[0\].digest"),
    "a line behind a digest": (lambda s: s["subject"][0]["digest"].update(sha256="0" * 64 + "\n"), r"subject\[0\]"),
    "a line behind the time": (lambda s: s["predicate"].update(timeVerified="2026-01-31T12:00:00Z\n"), "timeVerified"),
    "another time": (lambda s: s["predicate"].update(timeVerified="2026-01-31 12:00"), "timeVerified"),
    "other people's digits": (lambda s: s["predicate"].update(timeVerified="٢٠٢٦-01-31T12:00:00Z"), "timeVerified"),
    "check 11": (lambda s: s["predicate"]["checks"][9].update(number=11), r"checks\[9\].number"),
    "a state of its own": (lambda s: s["predicate"]["checks"][9].update(state="fine"), "fine.*state"),
    "a fourth subject": (lambda s: s["subject"].extend([s["subject"][1]] * 2), "subject"),
    "no subject": (lambda s: s["subject"].clear(), "subject"),
    "more attestations than parties": (lambda s: s["predicate"]["inputAttestations"].extend(
        s["predicate"]["inputAttestations"] * 1028), "inputAttestations"),
    "a count as a number": (lambda s: s["predicate"]["counts"].update(logBytes=1), "counts.logBytes"),
    "a count below zero": (lambda s: s["predicate"]["counts"].update(logBytes="-1"), "whole number.*counts.logBytes"),
    "a span of three": (lambda s: s["predicate"]["coverage"].update(mismatchedSteps=[[1, 2, 3]]), "mismatchedSteps"),
    "step 2^40": (lambda s: s["predicate"]["coverage"].update(stepsOrdered=2**40), "coverage.stepsOrdered"),
    "an environment of numbers": (lambda s: s["predicate"]["environment"]["auditor"].update(threads=1), "auditor"),
    "another order's source": (lambda s: s["predicate"]["policy"].update(orderSource="me"), "me.*orderSource"),
    "a predicate that is none": (lambda s: s.update(predicate=[]), "predicate"),
    "a count as a number in facts": (lambda s: s["predicate"].update(facts=with_fact(tokens=1)), "facts.tokens"),
    "operations in words": (lambda s: s["predicate"].update(facts=with_fact(tokens="many")), "facts.tokens"),
    "a fact of its own": (lambda s: s["predicate"].update(facts=with_fact(green=True)), "green"),
    "no facts": (lambda s: s["predicate"].update(facts=None), "facts"),
    "another kind of operations": (lambda s: s["predicate"].update(
        facts=with_fact(operations=[{"part": "forward", "kind": "fast", "precision": "float64", "operations": "1"}])),
        "kind"),
    "65 dimensions": (lambda s: s["predicate"]["dispute"]["operator"].update(shape=[1] * 65), "operator.shape"),
}  # fmt: skip


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """All that a statement holds, lists and objects too, with the way to it."""
    if path:
        yield path, value
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in inside:
        yield from leaves(item, (*path, name))


def put(statement: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """A copy with another value at the end of a way."""
    copied = copy.deepcopy(statement)
    at: Any = copied
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = value
    return copied


def keeps(statement: dict[str, Any], name: str) -> bool:
    """Whether a reader takes a statement whose signature holds."""
    kind = AdjudicationStatement if name in ("confirmed", "rejected") else VerdictStatement
    try:
        read = read_said(kind, statement)
        judge(Adjudication(read, "") if isinstance(read, AdjudicationStatement) else Verdict(read, ""))
    except SignatureError:
        return False
    return True


def test_no_field_is_without_a_bound() -> None:
    for name, make in STATEMENTS.items():
        statement = make()
        assert keeps(statement, name)
        for path, value in leaves(statement):
            if isinstance(value, str):
                too_much: Any = "x" * (MAX_SENTENCE + 1)
            elif isinstance(value, bool) or value is None:
                continue
            elif isinstance(value, int):
                too_much = 2**53
            elif isinstance(value, list):
                too_much = (value or ["x"]) * (MAX_INPUTS + 1)
            else:
                too_much = value | {"more": "x"}
                if path[-2:-1] == ("environment",) or (path[-1] == "environment" and "replayedAt" in path):
                    too_much = {str(number): "x" for number in range(MAX_LINES + 1)}
            assert not keeps(put(statement, path, too_much), name), (name, path)


FREE = re.compile(
    r"subject\.0\.(name|digest\.sha256)|predicate\.(title|reason|resourceUri|timeVerified|verifier\.version)"
    r"|predicate\.(seconds|environment|steering|counts|withoutBound|exactBits)\b.*"
    r"|predicate\.checks\.\d\.detail|predicate\.inputAttestations\.0\.keyId|predicate\.policy\.trainerKeyId"
    r"|predicate\.replayedAt\.\d\.(machine|environment\b.*)|predicate\.checks\.9\.(state|detail)"
    r"|predicate\.dispute\.(comparedAt|operator\b.*|inputs|tensors\b.*|trainerLoss|replayLoss|finding\.(sentence|right|recomputed|total))"
    r"|predicate\.steps\.agreed|predicate\.coverage\.(mismatchedSteps|stepsPlanned|stepsReplayed)\b.*|predicate\.result"
    r"|predicate\.checks\.[568]\.state|predicate\.dispute\.replayLeaf|subject\.1\.digest\.rfc9162Sha256"
    r"|predicate\.coverage\.(stepsOrdered|sample\.(selection|nonce))|predicate\.steps\.ordered"
    # Whoever has the run counts these again.
    r"|predicate\.facts\.(batch_size|parameters|optimizer|precision|programs\..*|tokens|operations\.\d\.precision)"
    r"|predicate\.facts\.data\.\d\.(name|dtype|digest|distinct_rows|filling_rows)|predicate\.facts\.data"
)
"""Fields with more than one value that can be true beside all others: what the auditor alone says."""
OTHERS: tuple[Any, ...] = (
    None, True, False, 0, 1, 2, 7, 61, "", "x", "0", "1", "00" * 32, "passed", "failed", "warning", "skipped", "all",
    "listed", "random", "client", "bundle", "VERIFIED", "DISPUTED", "CONFIRMED", "REJECTED", "replay", "trainer",
    [], {},
)  # fmt: skip


def test_one_field_alone_is_never_another() -> None:
    """Every field, one at a time, with other values: what is taken is known, and is the auditor's word alone."""
    taken = set()
    for name, make in STATEMENTS.items():
        statement = make()
        for path, value in list(leaves(statement)):
            if path[0] in ("_type", "predicateType"):  # read before the fields
                continue
            at: Any = statement
            for part in path[:-1]:
                at = at[part]
            for other in OTHERS:
                at[path[-1]] = other
                if other != value and keeps(statement, name):
                    taken.add(".".join(map(str, path)))
            at[path[-1]] = value
    assert {path for path in taken if not FREE.fullmatch(path)} == set()


@pytest.mark.parametrize("what", MALFORMED)
def test_what_is_not_in_the_form_is_refused_at_its_field(what: str, key: SigningKey) -> None:
    change, where = MALFORMED[what]
    value = copy.deepcopy(STATEMENTS["disputed"]())
    change(value)
    with pytest.raises(SignatureError, match="not in the form of a verdict: .*" + where):
        verify_signed(sign_statement(value, key), key.public)


def test_a_refusal_repeats_little_of_what_a_stranger_wrote(key: SigningKey) -> None:
    for change in (
        lambda s: s["predicate"].update(result="x" * 10**6),
        lambda s: s["predicate"]["counts"].update(logBytes="9" * 10**6),
        lambda s: s["predicate"].update({"y" * 10**6: 1}),
    ):
        value = copy.deepcopy(STATEMENTS["verified"]())
        change(value)
        with pytest.raises(SignatureError) as caught:
            verify_signed(sign_statement(value, key), key.public)
        assert len(caught.value.sentence) < 400


OTHER = {"sha256": "ab" * 32}


def refused_for_another_order() -> dict[str, Any]:
    """A verdict on a run of another order than the client's: check 2 failed."""
    states = {number.name: CheckState.SKIPPED for number in CheckNumber if number > CheckNumber.ORDER}
    found = checks(ORDER=CheckState.FAILED, **states)
    report = replace(
        verified_report(), outcome=Outcome.REFUSED, checks=found, order_digest=Digest.of(b"client"), sample=None,
        steps_planned=0, steps_replayed=0, steering=None, rounded_values=0, log_entries=0, log_bytes=0, corrections=0,
        without_bound=None,
    )  # fmt: skip
    return statement_of(verdict_statement(report, TIME))


def passed(statement: dict[str, Any], number: int, state: str = "passed") -> None:
    statement["predicate"]["checks"][number - 1]["state"] = state


ORDERS: dict[str, tuple[Change, str]] = {
    "the run's own order as the client's": (
        lambda s: s["predicate"]["policy"].update(orderDigest=s["predicate"]["policy"]["runOrderDigest"]),
        "check 2 is not what the two orders say",
    ),
    "passed": (lambda s: passed(s, 2), "check 2 is not what the two orders say"),
    "no order of the client's": (lambda s: s["predicate"]["policy"].update(orderDigest=None), "and is not named"),
    "from the bundle": (lambda s: s["predicate"]["policy"].update(orderSource="bundle"), "another than the file's"),
    "no order of the run's": (lambda s: s["predicate"]["policy"].update(runOrderDigest=None), "its steps are not"),
    "another signer than the trainer": (
        lambda s: s["predicate"]["policy"].update(trainerKeyId="ab" * 32), "another key signed the run"
    ),
}  # fmt: skip


def test_a_verdict_on_a_run_of_another_order_names_both(key: SigningKey) -> None:
    said = verify_signed(sign_statement(refused_for_another_order(), key), key.public)
    assert (said.order_digest, said.order_source, said.run_order) == (
        Digest.of(b"client"), "client", Digest.of(b"order"),
    )  # fmt: skip


@pytest.mark.parametrize("what", ORDERS)
def test_orders_and_keys_that_contradict_the_checks(what: str, key: SigningKey) -> None:
    change, words = ORDERS[what]
    value = refused_for_another_order()
    change(value)
    with pytest.raises(SignatureError, match=words) as caught:
        verify_signed(sign_statement(value, key), key.public)
    assert caught.value.detail.startswith("rule 11: ")


@pytest.mark.parametrize("name", ["verified", "disputed", "confirmed"])
def test_the_given_key_is_the_one_that_signed(name: str, key: SigningKey) -> None:
    value = STATEMENTS[name]()
    trainer = value["predicate"]["inputAttestations"][-1]["keyId"]
    unnamed = verify_signed(sign_statement(value, key), key.public)
    assert (unnamed.given_key, unnamed.trainer_key_source, unnamed.trainer_key) == ("", "bundle", trainer)
    value["predicate"]["policy"]["trainerKeyId"] = trainer
    named = verify_signed(sign_statement(value, key), key.public)
    assert (named.given_key, named.trainer_key_source) == (trainer, "given")
    value["predicate"]["policy"]["trainerKeyId"] = "ab" * 32
    with pytest.raises(SignatureError, match="another key signed the run"):
        verify_signed(sign_statement(value, key), key.public)


@pytest.mark.parametrize("name", STATEMENTS)
def test_what_the_command_line_prints_as_json(name: str, key: SigningKey) -> None:
    value = STATEMENTS[name]()
    signed = verify_signed(sign_statement(value, key), key.public)
    printed = as_json(signed)
    assert tuple(printed) == signed.facts
    assert printed["outcome"] == value["predicate"]["result"]
    assert printed["bundle_digest"] == value["subject"][0]["digest"]["sha256"]
    assert printed["run_root"] == value["subject"][1]["digest"]["rfc9162Sha256"]
    assert printed["disputed_step"] == (STEP if name in ("disputed", "confirmed") else None)
    assert printed["predicate"] == value["predicate"]
    json.dumps(printed, allow_nan=False)

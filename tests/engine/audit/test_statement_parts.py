"""Template and values beside a signed sentence: they give the very text, or the statement is refused."""

from __future__ import annotations

import json
import math
import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec import UNSET

from counterfoil_core.base import canonical
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.sentence import Sentence, joined, say
from counterfoil_core.signing.envelope import sign_statement
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.kinds import statement_of
from counterfoil_core.signing.statements import read_said
from counterfoil_core.statement.model import VerdictStatement
from counterfoil_core.statement.parts import parts_of, sentence_of
from counterfoil_core.statement.verdict import sign_verdict, verify_verdict
from counterfoil_core.statement.write import verdict_statement
from counterfoil_core.values.outcome import Check, CheckNumber, CheckState
from support.bundles import test_key
from support.jobs import Job, audited
from support.reports import verified_report

TIME = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> SigningKey:
    return test_key(Path(tmp_path_factory.mktemp("keys")))


def through_json(parts: Any) -> Any:
    """As a reader gets them: in the bytes that are signed."""
    return tuple(json.loads(canonical.encode(list(parts))))


SENTENCES = [
    say("Nothing."),
    say("All {0} steps match.", 60),
    say("{0:,} of {1:.3g}; {2}", 12345678, 0.00455, "conv1.weight"),
    say("{0:capital} is {1}, and {2}.", "ß", 2**64, -(2**70)),
    say("{0} {1} {2}", math.inf, math.nan, -0.0),
    joined(say("Step {0}.", 3), "", say("A brace {{ and {0}", "}")),
    say("{0} and {0}", say("one of {0}", 2)),
]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_parts_give_the_sentence_again(sentence: Sentence) -> None:
    parts = parts_of(sentence)
    assert parts is not UNSET
    made = sentence_of(str(sentence), through_json(parts))
    assert made == sentence
    assert isinstance(made, Sentence)
    assert made.template == sentence.template
    assert repr(made.values) == repr(sentence.values), "the numbers are numbers again, of the same kind"


@given(
    st.recursive(
        st.one_of(st.integers(), st.floats(), st.text(max_size=20)),
        lambda inner: st.lists(inner, min_size=1, max_size=4).map(
            lambda values: say(" | ".join(f"{{{place}}}" for place in range(len(values))), *values)
        ),
        max_leaves=12,
    )
)
def test_whatever_a_sentence_is_made_of_comes_back(value: Any) -> None:
    sentence = say("It is {0}.", value)
    parts = parts_of(sentence)
    assert parts is not UNSET
    text = str(sentence)
    if text.isprintable():  # canonical JSON has no lone surrogates
        assert sentence_of(text, through_json(parts)) == text


def test_a_text_that_was_made_of_nothing_stands_alone() -> None:
    assert parts_of("plain") is UNSET
    assert sentence_of("plain", UNSET) == "plain"


JUNK: dict[str, Any] = {
    "no list inside": ["{0}", {"template": "x"}],
    "no template": [3, "x"],
    "nothing": ["{0}", []],
    "a value too many": ["It is.", "hidden"],
    "a place without a value": ["It is {0} {1}", "x"],
    "a truth": ["It is {0}", True],
    "nothing at all": ["It is {0}", None],
    "a form that no number has": ["It is {0:s>9}", 1],
    "a number twice over": ["It is {0}", {"hex": "0x1.0p+0", "decimal": "2.0"}],
    "digits that are none": ["It is {0}", {"integer": "1e9"}],
    "a number and more": ["It is {0}", {"hex": "0x1.0p+0", "decimal": "1.0", "more": 1}],
    "a single brace": ["It is { 1"],
    "another sentence": ["It is {0}", 2],
}


@pytest.mark.parametrize("parts", JUNK.values(), ids=JUNK)
def test_junk_is_refused(parts: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        sentence_of("It is 1", tuple(parts))
    assert sentence_of("It is 1", ("It is {0}", 1)) == "It is 1", "the control"


def doubled(levels: int) -> list[Any]:
    parts: list[Any] = ["{0}", "x" * 1000]
    for _ in range(levels):
        parts = ["{0}{0}", parts]
    return parts


def test_parts_that_would_fill_the_memory_are_not_put_together() -> None:
    deep: list[Any] = ["{0}", "x"]
    for _ in range(60):
        deep = ["{0}", deep]
    wide = ["{0}" * 100_000, "x" * 100_000]
    unused = ["{0}", "x", *[doubled(14) for _ in range(50)]]
    long = ["{0:.99f}" * 200_000, 0.5]
    tracemalloc.start()
    for parts in (doubled(14), deep, wide, unused, long):
        with pytest.raises(ValueError, match=r"."):
            sentence_of("x" * 2000, tuple(parts))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50 * 2**20


def test_a_real_audit_signs_what_its_sentences_are_made_of(digits_job: Job, key: SigningKey) -> None:
    report = audited(digits_job.run, digits_job.order).report
    verdict = verify_verdict(sign_verdict(report, key), key.public)
    assert isinstance(report.reason, Sentence)
    assert isinstance(verdict.reason, Sentence)
    assert (verdict.reason.template, verdict.reason.values) == (report.reason.template, report.reason.values)
    assert verdict.checks == report.checks
    made = [check.number for check in verdict.checks if check.detail and not isinstance(check.detail, Sentence)]
    assert made == [], "every sentence of a check"


def said_in_two_ways(**changed: Any) -> dict[str, Any]:
    report = replace(verified_report(), reason=say("All {0} steps match.", 60))
    statement = statement_of(verdict_statement(report, TIME))
    statement["predicate"].update(changed)
    return statement


def test_english_and_parts_that_differ_are_refused(key: SigningKey) -> None:
    assert verify_verdict(sign_statement(said_in_two_ways(), key), key.public).reason == "All 60 steps match."
    for changed in (
        {"reason": "All 6 steps match."},
        {"reasonParts": ["All {0} steps match.", 61]},
        {"reasonParts": ["No step of {0} matches.", 60]},
        {"reasonParts": ["{0} 60 steps match.", "All "]},
    ):
        with pytest.raises(SignatureError, match="another sentence in its template") as caught:
            verify_verdict(sign_statement(said_in_two_ways(**changed), key), key.public)
        assert caught.value.detail.startswith("rule 19")


def test_a_verdict_without_parts_is_read_in_english(key: SigningKey) -> None:
    statement = said_in_two_ways()
    del statement["predicate"]["reasonParts"]
    verdict = verify_verdict(sign_statement(statement, key), key.public)
    assert verdict.reason == "All 60 steps match."
    assert not isinstance(verdict.reason, Sentence)


def test_parts_of_another_type_are_refused_by_their_form(key: SigningKey) -> None:
    for parts in ([], "All", {"0": "All"}, ["{0}"] * 200):
        with pytest.raises(SignatureError, match="not in the form"):
            verify_verdict(sign_statement(said_in_two_ways(reasonParts=parts), key), key.public)


def test_the_parts_of_checks_are_those_of_checks() -> None:
    checks = tuple(
        replace(check, detail=say("{0} of {1}", 3, 4)) if check.number is CheckNumber.REPLAY else check
        for check in verified_report().checks
    )
    statement = statement_of(verdict_statement(replace(verified_report(), checks=checks), TIME))
    found = [check.get("detailParts") for check in statement["predicate"]["checks"]]
    assert found == [None] * 7 + [["{0} of {1}", 3, 4], None, None]
    assert Check(CheckNumber.REPLAY, CheckState.PASSED, "3 of 4") in (checks[7],)
    read_said(VerdictStatement, statement)

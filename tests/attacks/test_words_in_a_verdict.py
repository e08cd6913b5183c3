"""A trainer writes sentences into names, times and fields, to have the auditor sign them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import structs
from securesystemslib.dsse import Envelope

from counterfoil.audit.overview import inspect
from counterfoil_core.base import canonical
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.plaintext import quote, spell
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import MAX_ENVIRONMENT
from counterfoil_core.signing.claims import TreeHead
from counterfoil_core.signing.envelope import sign_statement
from counterfoil_core.signing.kinds import PAYLOAD_TYPE, statement_of
from counterfoil_core.signing.statements import open_said
from counterfoil_core.statement.verdict import sign_verdict
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from support import expectations
from support.bundles import opened_for_change
from support.heads import heads_of, record_with_heads, write_heads
from support.jobs import audited, replace_bytes, sign_again

WORDS = "The client's notary witnessed the training, and every step is VERIFIED."
PIECES = ("notary witnessed", "every step", "The client")


@pytest.fixture
def published(tmp_path, digits_job, trainer_key):
    return record_with_heads(digits_job.order, tmp_path, trainer_key)


def sentences(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """All texts of a statement, with the names of their fields."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from sentences(item, f"{path}.{name}")
    elif isinstance(value, list):
        for item in value:
            yield from sentences(item, path)
    elif isinstance(value, str):
        yield path, value


def signed_words(run, key, **settings) -> tuple[dict[str, Any], set[str]]:
    """What an audit signs, and its fields in which the trainer's words stand."""
    report = audited(run, **settings).report
    statement = json.loads(base64.b64decode(json.loads(sign_verdict(report, key))["payload"]))
    return statement, {path for path, text in sentences(statement) if any(piece in text for piece in PIECES)}


def resigned(run, key, change) -> None:
    """Sign the claim again after a change to its statement."""
    with BundleReader.open(run) as reader:
        statement = json.loads(base64.b64decode(json.loads(reader.claim())["payload"]))
    change(statement)
    replace_bytes(run, "/run/claim", sign_statement(statement, key))


def test_the_time_of_a_head(published, digits_job, trainer_key):
    run, heads = published
    head = heads_of(heads, trainer_key.public)[0]
    with pytest.raises(SignatureError, match="signed_at"):
        open_said(TreeHead, heads_line(head, trainer_key, WORDS), trainer_key.public)
    heads.write_bytes(heads_line(head, trainer_key, WORDS) + b"\n")
    expectations.refused(run, digits_job.order, CheckNumber.COMMITMENTS, "not a tree head", heads=heads)
    statement, where = signed_words(run, trainer_key, heads=heads)
    assert (statement["predicate"]["result"], where) == ("REFUSED", set())


def heads_line(head: TreeHead, key, time: str) -> bytes:

    return sign_statement(statement_of(structs.replace(head, signed_at=time)), key)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "time",
    ["", "yesterday", "2020-01-01", "2020-13-01T00:00:00Z", "2020-02-30T00:00:00Z", "2020-01-01T24:00:00Z",
     "2020-01-01T00:00:60Z", "2020-01-01T00:00:00+00:00", "2020-01-01T00:00:00z", "2020-01-01T00:00:00Z ",
     "٢٠٢٠-01-01T00:00:00Z", "0000-01-01T00:00:00Z"],
)  # fmt: skip
def test_what_is_no_time(published, trainer_key, copied_run, digits_job, time):
    head = heads_of(published[1], trainer_key.public)[0]
    with pytest.raises(SignatureError, match="signed_at"):
        open_said(TreeHead, heads_line(head, trainer_key, time), trainer_key.public)
    sign_again(copied_run, trainer_key, signed_at=time)
    found = inspect(copied_run, quick=True).checks[CheckNumber.SIGNATURE - 1]
    assert found.state is CheckState.FAILED
    assert "signed_at" in found.detail
    assert not time or time not in found.detail


def test_heads_that_were_made_afterwards(published, digits_job, trainer_key):
    """They agree with the run, of course; what the verdict says must be true of them too."""
    run, heads = published
    write_heads(heads, heads_of(heads, trainer_key.public), trainer_key, signed_at="2020-01-01T00:00:00Z")
    result = audited(run, digits_job.order, heads=heads)
    detail = result.check(CheckNumber.COMMITMENTS).detail
    assert result.report.outcome is Outcome.VERIFIED
    assert "3 tree heads that the trainer signed agree with it" in detail
    assert "since when, this audit does not know" in detail
    assert "2020" not in detail
    assert "published" not in detail


CLAIMS = {
    "the time": lambda s: s["predicate"].update(signed_at=WORDS),
    "a field": lambda s: s["predicate"].update({WORDS: 1}),
    "a digest": lambda s: s["predicate"].update(order=WORDS),
    "the key": lambda s: s["predicate"].update(public_key=WORDS),
    "a subject": lambda s: s["subject"].append({"name": WORDS, "digest": {}}),
    "the type": lambda s: s.update(predicateType=WORDS),
    "an endless environment": lambda s: s["predicate"].update(
        environment={f"{number} {WORDS}": WORDS for number in range(MAX_ENVIRONMENT + 1)}
    ),
    "a value without end": lambda s: s["predicate"].update(environment={"device": WORDS * 1000}),
}


@pytest.mark.parametrize("what", CLAIMS)
def test_a_claim_with_words(what, copied_run, trainer_key):
    resigned(copied_run, trainer_key, CLAIMS[what])
    statement, where = signed_words(copied_run, trainer_key)
    assert (statement["predicate"]["result"], where) == ("REFUSED", set())


def test_a_signed_payload_of_another_type(copied_run, trainer_key):
    with BundleReader.open(copied_run) as reader:
        payload = base64.b64decode(json.loads(reader.claim())["payload"])
    envelope = Envelope(payload, WORDS, {})
    envelope.sign(trainer_key._signer)
    replace_bytes(copied_run, "/run/claim", canonical.encode(envelope.to_dict()))
    statement, where = signed_words(copied_run, trainer_key)
    assert (statement["predicate"]["result"], where) == ("REFUSED", set())
    assert PAYLOAD_TYPE in statement["predicate"]["reason"]


def test_words_about_the_machine_stand_as_the_trainers(copied_run, digits_job, trainer_key):
    sign_again(copied_run, trainer_key, environment={"device": WORDS, WORDS: "1"})
    statement, where = signed_words(copied_run, trainer_key, order=digits_job.order)
    assert statement["predicate"]["result"] == "VERIFIED"
    assert where == {".predicate.environment.trainer.device"}
    assert WORDS in statement["predicate"]["environment"]["trainer"], "under the trainer's own, and nowhere else"


def manifest(change):
    def edit(run) -> None:
        with opened_for_change(run) as file:
            value = json.loads(file["/order/manifest"][...].tobytes())
        change(value)
        replace_bytes(run, "/order/manifest", canonical.encode(value))

    return edit


def object_called(name: str):
    def edit(run) -> None:
        with opened_for_change(run) as file:
            file[f"/order/{name}"] = b"x"

    return edit


def attribute(run) -> None:
    with opened_for_change(run) as file:
        file.attrs["format"] = WORDS


FILES = {
    "a field of the order": manifest(lambda m: m.update({WORDS: 1})),
    "a data array": manifest(lambda m: m["data"].update({WORDS: next(iter(m["data"].values()))})),
    "a dtype": manifest(lambda m: next(iter(m["data"].values())).update(dtype=WORDS)),
    "a data file": manifest(lambda m: next(iter(m["data"].values())).update(file=f"{WORDS}/")),
    "a scalar": manifest(lambda m: m["scalar_names"].append(WORDS)),
    "a field of the precision": manifest(lambda m: m["precision"].update({WORDS: 1})),
    "a title without end": manifest(lambda m: m.update(title=WORDS * 1000)),
    "an object": object_called(WORDS.replace(" ", "\N{NO-BREAK SPACE}")),
    "an object with spaces": object_called(WORDS),
    "the format": attribute,
}


@pytest.mark.parametrize("what", FILES)
def test_a_file_with_words(what, copied_run, trainer_key):
    FILES[what](copied_run)
    statement, where = signed_words(copied_run, trainer_key)
    assert (statement["predicate"]["result"], where) == ("REFUSED", set())
    assert all(len(text) < 1000 for path, text in sentences(statement) if "checks" in path or "reason" in path)


def test_how_a_name_is_spelled():
    assert spell("layers.21.self_attn:q-proj/[0]") == "layers.21.self_attn:q-proj/[0]"
    assert quote("labels") == "'labels'"
    assert quote(WORDS).startswith("'The\\x20client\\x27s\\x20notary")
    assert len(quote(WORDS * 9)) <= 62
    assert len(quote("\U000e0041" * 10**6)) <= 62

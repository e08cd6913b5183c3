"""Every kind of statement is declared once: what is signed is read, what is spoilt refused, and its page is current."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from tests.frozen.statements import AUDITOR, CLIENT, OTHER, TIME, TRAINER, envelopes

from counterfoil.cli import main
from counterfoil.signing.kinds import FORMS, Comparison, DataNote, Line, RunClaim
from counterfoil.signing.privatekeys import generate_key
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.signing import kinds
from counterfoil_core.signing.claims import TreeHead
from counterfoil_core.signing.envelope import sign_statement, wrap_statement
from counterfoil_core.signing.kinds import EARLIER, Said, make_statement, statement_of
from counterfoil_core.signing.statements import open_said, read_said, sign_said
from support.scripts import load_script

ROOT = Path(__file__).parents[3]
KEYS = {key.public.key_id: key for key in (AUDITOR, CLIENT, OTHER, TRAINER)}
MADE = {name: envelope for name, envelope in envelopes().items() if name not in ("svr", "vsa")}
"""An envelope of each kind, or several, by name."""
ALONE = [name for name in MADE if json.loads(base64.b64decode(json.loads(MADE[name])["payload"]))["predicateType"] in {
    kind.predicate for kind in kinds.KINDS if kind.alone
}]  # fmt: skip


def statement_in(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(base64.b64decode(json.loads(MADE[name])["payload"]))
    return found


def form_of(name: str) -> type[Said]:
    return FORMS[statement_in(name)["predicateType"]]


def key_of(name: str) -> Any:
    (signature,) = json.loads(MADE[name])["signatures"]
    return KEYS[signature["keyid"]]


SIGNED = [name for name in MADE if json.loads(MADE[name])["signatures"]]


def test_the_page_is_what_the_declarations_give() -> None:
    script = load_script(ROOT / "packaging" / "statement_page.py")
    assert script.page() == script.PAGE.read_text("utf-8"), "run python packaging/statement_page.py"


def test_every_kind_has_one_class_and_every_class_its_kind() -> None:
    assert {form.KIND for form in FORMS.values()} == set(kinds.KINDS)
    assert len(FORMS) == len({predicate for kind in kinds.KINDS for predicate in kind.predicates})
    for form in FORMS.values():
        assert form.KIND.names_key == ("public_key" in form.__struct_fields__)
        assert not form.TIME or form.TIME in form.__struct_fields__
    assert {form_of(name).KIND for name in MADE} == set(kinds.KINDS) - {kinds.ADJUDICATION}


@pytest.mark.parametrize("name", SIGNED)
def test_what_is_read_is_signed_again_to_the_byte(name: str) -> None:
    key = key_of(name)
    said = open_said(form_of(name), MADE[name], key.public)
    assert sign_said(said, key) == MADE[name]
    assert sign_said(said, key) == sign_statement(statement_in(name), key)


@pytest.mark.parametrize("name", [name for name in SIGNED if not name.startswith("verdict")])
def test_every_field_is_needed_and_no_other_is_taken(name: str) -> None:
    """Of verdicts test_statement_rules.py tries more."""
    form, key, statement = form_of(name), key_of(name), statement_in(name)

    def refused(change: Callable[[dict[str, Any]], Any]) -> None:
        spoilt = json.loads(json.dumps(statement))
        change(spoilt)
        with pytest.raises(SignatureError):
            open_said(form, sign_statement(spoilt, key), key.public)

    for field in statement["predicate"]:
        refused(lambda said, field=field: said["predicate"].pop(field))
        refused(lambda said, field=field: said["predicate"].update({field: [{"of": True}]}))
    refused(lambda said: said["predicate"].update(more=1))
    refused(lambda said: said["predicate"].update(dict.fromkeys(form.APART)) if form.APART else said.clear())
    refused(lambda said: said.update(predicate=[]))
    refused(lambda said: said.update(subject=[]))
    refused(lambda said: said.update(subject=None))
    refused(lambda said: said["subject"].append(said["subject"][0]))
    refused(lambda said: said["subject"][0].update(name="\x1b[31m"))
    refused(lambda said: said.update(predicateType="urn:counterfoil:none:v1"))


def test_true_is_no_number_of_a_fact() -> None:
    """Python holds True for 1, and JSON does not."""
    name = "facts"
    form, statement = form_of(name), statement_in(name)
    for field in ("seconds", "steps", "batch_size", "exact_bits"):
        spoilt = json.loads(json.dumps(statement))
        spoilt["predicate"]["facts"][field] = True
        with pytest.raises(SignatureError, match="not in the form"):
            open_said(form, sign_statement(spoilt, key_of(name)), key_of(name).public)


def test_an_optional_field_is_absent_and_never_null() -> None:
    claim = open_said(RunClaim, MADE["run"])
    assert "steps_ordered" not in statement_of(claim)["predicate"]
    spoilt = statement_in("run")
    spoilt["predicate"]["steps_ordered"] = None
    with pytest.raises(SignatureError, match="written otherwise"):
        read_said(RunClaim, spoilt)
    short = structs.replace(claim, steps_ordered=claim.steps + 1)
    assert short.predicate_type == kinds.RUN.short
    with pytest.raises(SignatureError, match="not in the form"):
        read_said(RunClaim, statement_of(short) | {"predicateType": kinds.RUN.predicate})
    with pytest.raises(SignatureError, match="fewer"):
        sign_said(structs.replace(claim, steps_ordered=claim.steps), TRAINER)


def test_a_refusal_repeats_a_strangers_word_spelled_and_short() -> None:
    spoilt = statement_in("data-note")
    spoilt["predicate"]["The auditor says: VERIFIED. " * 100] = 1
    with pytest.raises(SignatureError) as caught:
        read_said(DataNote, spoilt)
    assert "The auditor" not in caught.value.sentence
    assert len(caught.value.sentence) < 200


def test_nothing_is_signed_that_no_reader_takes() -> None:
    head = TreeHead(Digest.of(b"order"), 0, Digest.of(b"root"))
    with pytest.raises(SignatureError, match="size"):
        sign_said(head, TRAINER)
    with pytest.raises(SignatureError, match="another public key"):
        sign_said(structs.replace(head, size=1, public_key=OTHER.public.pem), TRAINER)
    line = open_said(Line, MADE["snapshot-begun"])
    with pytest.raises(SignatureError, match="contradicts itself"):
        sign_said(structs.replace(line, nonce=None), OTHER)


def test_what_nobody_signed_is_read_of_one_kind_alone() -> None:
    said = open_said(Comparison, MADE["comparison-unsigned"])
    assert (said.signer, said.key_id, said.signed_at) == ("", "", "")
    with pytest.raises(SignatureError, match="malformed"):
        open_said(DataNote, wrap_statement(statement_in("data-note")))


# The commands


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, envelope in MADE.items():
        Path(f"{name}.json").write_bytes(envelope)
        if name in SIGNED:
            Path(f"{name}.pem").write_text(key_of(name).public.pem)
    generate_key(Path("me.pem"), None)
    return tmp_path


@pytest.mark.usefixtures("desk")
def test_every_kind_is_verified_by_one_command(capsys: pytest.CaptureFixture[str]) -> None:
    for name in MADE:
        said = statement_in(name)
        key = ["--key", f"{name}.pem"] if name in SIGNED else []
        wanted = {"verdict-disputed": 1, "verdict-inconclusive": 2, "verdict-refused": 3}.get(name, 0)
        capsys.readouterr()
        assert main(["verify", f"{name}.json", *key]) == wanted, name
        out = capsys.readouterr().out
        assert "signature holds" in out or name == "comparison-unsigned", name
        assert main(["verify", f"{name}.json", *key, "--json"]) == wanted, name
        assert json.loads(capsys.readouterr().out), name
        if name in SIGNED:
            assert main(["verify", f"{name}.json", "--key", "me.pub.pem"]) == 3, name
            named = "public_key" in said["predicate"]
            assert main(["verify", f"{name}.json"]) == (0 if named else 4), name


@pytest.mark.usefixtures("desk")
def test_what_is_about_something_else_is_not_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "withdrawal.json", "verdict-verified.json"]) == 3
    assert "another verdict" in capsys.readouterr().out
    for options in (["--row", "x"], ["--weights", "x"], ["--all"], ["--roots", "x"]):
        assert main(["verify", "reply.json", *options]) == 4
        assert "says nothing of a reply to a verdict" in " ".join(capsys.readouterr().err.split())
    assert main(["verify", "revocations.json", "reply.json"]) == 4


@pytest.mark.usefixtures("desk")
def test_what_no_reader_knows_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    unknown = make_statement([{"name": "x", "digest": {"sha256": "ab" * 32}}], "urn:example:mine", {"a": 1})
    Path("unknown.json").write_bytes(sign_statement(unknown, OTHER))
    Path("unknown.unsigned").write_bytes(canonical.encode(unknown))
    assert main(["verify", "unknown.json", "--key", "reply.pem"]) == 3
    assert "no statement of a kind that Counterfoil knows" in capsys.readouterr().err
    assert main(["sign", "unknown.unsigned", "--key", "me.pem", "--out", "out.json"]) == 3
    assert not Path("out.json").exists()


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("kind", EARLIER)
def test_a_form_of_before_does_not_say_whose_run_it_is_about(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = make_statement([{"name": "x", "digest": {"sha256": "ab" * 32}}], kind, {"a": 1})
    Path("before.json").write_bytes(sign_statement(before, OTHER))
    assert main(["verify", "before.json", "--key", "reply.pem"]) == 3
    assert f"an earlier form, {kind}, which does not say whose run it is about" in capsys.readouterr().err


@pytest.mark.sampled(5)
@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("name", ALONE)
def test_what_lies_unsigned_is_shown_and_signed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    statement = statement_in(name)
    if form_of(name).KIND.names_key:  # who signs, and when, is put in
        for field in ("public_key", form_of(name).TIME):
            statement["predicate"].pop(field, None)
    Path("it.unsigned").write_bytes(canonical.encode(statement))
    assert main(["sign", "it.unsigned", "--key", "me.pem", "--out", "signed.json"]) == 0
    assert "Wrote signed.json, signed with the key" in " ".join(capsys.readouterr().out.split())
    again = json.loads(base64.b64decode(json.loads(Path("signed.json").read_bytes())["payload"]))
    assert {**again["predicate"], **statement["predicate"]} == again["predicate"]
    assert main(["sign", "signed.json", "--key", "me.pem", "--out", "twice.json"]) == 3
    assert "signed already" in capsys.readouterr().err


@pytest.mark.sampled(4)
@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("name", sorted(set(MADE) - set(ALONE)))
def test_what_a_work_signs_is_not_signed_from_a_file(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("it.unsigned").write_bytes(canonical.encode(statement_in(name)))
    assert main(["sign", "it.unsigned", "--key", "me.pem", "--out", "out.json"]) == 3
    assert "is not signed from a file" in capsys.readouterr().err
    assert not Path("out.json").exists()


@pytest.mark.usefixtures("desk")
def test_a_form_that_is_violated_is_not_signed(capsys: pytest.CaptureFixture[str]) -> None:
    statement = statement_in("data-note")
    for change in ({"says": " "}, {"more": 1}, {"signed_at": "now"}, {"public_key": OTHER.public.pem}):
        Path("it.unsigned").write_bytes(canonical.encode(statement | {"predicate": statement["predicate"] | change}))
        assert main(["sign", "it.unsigned", "--key", "me.pem", "--out", "out.json"]) == 3, change
    contradictory = statement_in("verdict-verified")
    contradictory["predicate"]["checks"][4]["state"] = "failed"
    Path("it.unsigned").write_bytes(canonical.encode(contradictory))
    assert main(["sign", "it.unsigned", "--key", "me.pem", "--out", "out.json"]) == 3
    assert not Path("out.json").exists()
    assert TIME in json.dumps(statement)

"""Sentences that carry what they were made of: texts like any other, in pieces wherever they go."""

from __future__ import annotations

import ast
import copy
import json
from dataclasses import replace

import msgspec
import pytest

from counterfoil.audit.progressfile import decode, encode
from counterfoil.talk import messages
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import BundleError, ProgressError
from counterfoil_core.base.sentence import Sentence, enumeration, fill, joined, pack_sentence, say, unpack_sentence
from counterfoil_core.hearing.keptaudit import Basis, KeptAudit
from counterfoil_core.values.dispute import Dispute, Finding, Right, named_parts
from counterfoil_core.values.sampling import Sample, SegmentRequest, Selection
from counterfoil_core.values.steptable import StepTable
from support.packages import sources

NESTED = say("{0} {1:.3g} of {2:,} in {3}.", say("Step {0}", 4), 0.12345, 100000, "{curly}")


def parts(sentence: object) -> object:
    """What a sentence was made of, down to its plain values."""
    return pack_sentence(sentence) if isinstance(sentence, Sentence) else sentence


def test_a_sentence_is_its_text() -> None:
    assert NESTED == "Step 4 0.123 of 100,000 in {curly}."
    assert hash(NESTED) == hash(str(NESTED))
    assert {str(NESTED): 1}[NESTED] == 1
    assert type(str(NESTED)) is str
    assert json.dumps(NESTED) == json.dumps(str(NESTED))
    assert NESTED.values == ("Step 4", 0.12345, 100000, "{curly}")


def test_values_are_taken_as_an_f_string_takes_them() -> None:
    for value in (True, None, [1, "a"], Right.TRAINER, Digest.of(b""), ValueError("no"), 7, 0.1, 2**70, -0.0):
        assert say("{0}", value) == f"{value}"
    assert say("{{{0}}}", 1) == "{1}"
    assert [type(value) for value in say("{0}{1}{2}", True, 3, 0.5).values] == [str, int, float]


def test_a_sentence_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        NESTED.template = "another"
    with pytest.raises(AttributeError):
        NESTED.__dict__  # noqa: B018


@pytest.mark.parametrize(
    "template",
    ["{0.__class__}", "{0!r}", "{0[0]}", "{0:999999999d}", "{0:>99}", "{1}", "{}", "{name}", "{", "}", "{0:.100f}"],
)
def test_a_template_reaches_nothing_but_its_values(template: str) -> None:
    with pytest.raises(ValueError, match="template"):
        Sentence(template, (1,))


def test_only_plain_values_are_kept() -> None:
    for value in (Digest.of(b""), [1], True, None):
        with pytest.raises(TypeError):
            Sentence("{0}", (value,))  # type: ignore[arg-type]


def test_joined_sentences_keep_their_parts() -> None:
    both = joined(say("One."), "", say("{0} more.", 2))
    assert both == "One. 2 more."
    assert parts(both) == ["{0} {1}", ["One."], ["{0} more.", 2]]
    assert joined() == ""
    assert enumeration(["a"]) == "a"
    assert enumeration(["a", "b"]) == "a and b"
    assert enumeration(["a", "b", "c"]) == "a, b and c"
    assert parts(named_parts(("state", "loss"))) == ["{0} and {1}", ["{0}", ["state"]], ["loss"]]


def test_the_text_of_an_error_keeps_its_parts() -> None:
    error = BundleError(say("There is no file {0}.", "x"), remedy=say("Give one."))
    assert parts(say("{0} Nothing was concluded.", error)) == [
        "{0} Nothing was concluded.", ["{0} {1}", ["There is no file {0}.", "x"], ["Give one."]],
    ]  # fmt: skip
    assert parts(say("It {0}.", ValueError(say("is not a {0}", "number")))) == ["It {0}.", ["is not a {0}", "number"]]
    assert parts(say("It {0}.", ValueError("is not"))) == ["It {0}.", "is not"]


def test_a_sentence_survives_a_copy_and_another_process() -> None:
    for found in (copy.deepcopy(NESTED), messages.decode(messages.encode(NESTED), str)):
        assert found == NESTED
        assert parts(found) == parts(NESTED)


def test_a_sentence_survives_json() -> None:
    found = unpack_sentence(json.loads(json.dumps(pack_sentence(NESTED))))
    assert found == NESTED
    assert parts(found) == parts(NESTED)
    assert unpack_sentence(pack_sentence("plain")) == "plain"
    for damaged in ([], [1], ["{0}"], ["{0}", {}], ["{0}", None]):
        with pytest.raises((TypeError, ValueError)):
            unpack_sentence(damaged)


def test_msgpack_writes_no_sentence_unasked() -> None:
    """The control of the next test: a part that forgets the hook fails, and does not lose the parts in silence."""
    with pytest.raises(TypeError):
        msgspec.msgpack.encode(NESTED)


def test_a_sentence_survives_kept_progress() -> None:
    digest = Digest.of(b"")
    finding = Finding(Right.REPLAY, say("At the operator {0} {1:.2g}.", "aten.mm", 0.5))
    dispute = Dispute(3, digest, None, ("log",), (), (), None, (), 1.0, 1.0, confirmed=True, finding=finding)
    sample = Sample(1, ((1, 1),), Selection.ALL)
    basis = Basis(digest, digest, digest, "1", "2", "cpu", SegmentRequest())
    audit = KeptAudit(
        basis=basis, sample=sample, segments=1, steps=StepTable().pack(0), dispute=dispute, steering_steps=(0,),
        seconds=1.0, capsule=None,
    )  # fmt: skip
    found = decode(encode(audit)).dispute
    assert found is not None
    assert found.finding is not None
    assert parts(found.finding.sentence) == ["At the operator {0} {1:.2g}.", "aten.mm", 0.5]
    damaged = replace(dispute, finding=replace(finding, sentence="a plain text"))  # type: ignore[arg-type]
    data = encode(msgspec.structs.replace(audit, dispute=damaged))
    with pytest.raises(ProgressError):
        decode(data)


def test_translations_may_order_values_as_they_like() -> None:
    assert fill("{1} von {0:capital}", ("the run", 3)) == "3 von The run"
    assert fill("{0}", (1.5,), lambda value, form: f"<{value}|{form}>") == "<1.5|>"


def named_classes(code: str) -> list[int]:
    """Lines in which a sentence names the class of an error: the first argument of an error of ours, or of ``say``."""
    found = []
    for call in (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)):
        name = getattr(call.func, "id", "")
        said = call.args if name == "say" else call.args[:1] if name.endswith("Error") and name != "FormError" else []
        for node in (each for part in said for each in ast.walk(part)):
            given = node.value.args if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call) else ()
            if getattr(node, "attr", "") == "__name__" and any(getattr(each, "id", "") == "error" for each in given):
                found.append(node.lineno)
    return found


def test_no_sentence_names_a_class_of_errors() -> None:
    texts = {path: path.read_text(encoding="utf-8") for _, path in sources()}
    assert [path for path, text in texts.items() if "__name__" in text and named_classes(text)] == []


def test_one_that_did_would_be_found() -> None:
    assert named_classes('say("It failed: {0}.", type(error).__name__)') == [1]
    assert named_classes('DataError(f"It failed: {type(error).__name__}.")') == [1]
    assert named_classes('DataError("It failed.", detail=f"{type(error).__name__}: {error}")') == []

"""A note about data proves who said what of which arrays; whatever is changed of it, or about it, it does not hold."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from counterfoil.signing.kinds import DataNote
from counterfoil.signing.privatekeys import PrivateKey, generate_key, load_private_key
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.signing.claims import SignedOrder
from counterfoil_core.signing.envelope import sign_statement
from counterfoil_core.signing.kinds import NOTE, make_statement
from counterfoil_core.signing.statements import open_said, sign_said

DATA, OTHER, WEIGHTS = (Digest.of(text) for text in (b"data", b"other", b"weights"))
WORDS = "Sampled by the policy of round 3.\nRewards: exact match."


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[PrivateKey, PrivateKey]:
    """The sampler's, and another one."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("sampler", "other"):
        generate_key(folder / f"{name}.pem", None)
    return load_private_key(folder / "sampler.pem", None), load_private_key(folder / "other.pem", None)


def made(key: PrivateKey, subject: Digest = DATA, **changes: Any) -> bytes:
    """A note whose fields somebody chose himself; a field that is None is left out."""
    predicate = {
        "data_root": DATA.hex, "says": WORDS, "weights": WEIGHTS.hex, "signed_at": "2026-01-01T00:00:00Z",
        "public_key": key.public.pem,
    } | changes  # fmt: skip
    subjects = [{"name": "data", "digest": {"counterfoilStateRoot": subject.hex}}]
    kept = {name: value for name, value in predicate.items() if value != "left out"}
    return sign_statement(make_statement(subjects, NOTE.predicate, kept), key)


def test_what_was_signed_is_read(keys: tuple[PrivateKey, PrivateKey]) -> None:
    key, _ = keys
    when = datetime(2026, 1, 31, 12, tzinfo=UTC)
    note = open_said(DataNote, sign_said(DataNote(DATA, WORDS, WEIGHTS), key, when), key.public)
    assert (note.data_root, note.says, note.weights, note.key_id) == (DATA, WORDS, WEIGHTS, key.public.key_id)
    assert note.signed_at == "2026-01-31T12:00:00Z"
    assert open_said(DataNote, sign_said(DataNote(DATA, WORDS, None), key), key.public).weights is None
    assert open_said(DataNote, made(key), key.public).says == WORDS, "the control of the test below"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"subject": OTHER}, "subjects of the note"),
        ({"data_root": OTHER.hex}, "subjects of the note"),
        ({"data_root": "ab"}, "data_root"),
        ({"says": ""}, "says"),
        ({"says": " \n"}, "says"),
        ({"says": "a" * 20_001}, "says"),
        ({"says": 3}, "says"),
        ({"weights": "left out"}, "weights"),
        ({"weights": "AB" * 32}, "weights"),
        ({"signed_at": "yesterday"}, "signed_at"),
        ({"signed_at": "2026-02-30T00:00:00Z"}, "not a time"),
        ({"who": "a professor"}, "who"),
        ({"public_key": "no key"}, "another public key"),
    ],
)
def test_a_note_that_contradicts_itself_is_refused(
    changes: dict[str, Any], said: str, keys: tuple[PrivateKey, PrivateKey]
) -> None:
    with pytest.raises(SignatureError, match=said):
        open_said(DataNote, made(keys[0], **changes), keys[0].public)


def test_only_the_key_that_is_given_counts(keys: tuple[PrivateKey, PrivateKey]) -> None:
    key, other = keys
    envelope = sign_said(DataNote(DATA, WORDS, WEIGHTS), key)
    with pytest.raises(SignatureError, match="does not hold"):
        open_said(DataNote, envelope, other.public)
    fields = json.loads(envelope)
    forged = json.loads(sign_said(DataNote(OTHER, WORDS, WEIGHTS), other))
    with pytest.raises(SignatureError, match="does not hold"):
        open_said(DataNote, json.dumps({**fields, "payload": forged["payload"]}).encode(), key.public)
    with pytest.raises(SignatureError, match="not the note"):
        open_said(DataNote, sign_said(SignedOrder(DATA), key), key.public)
    with pytest.raises(SignatureError, match="longer than"):
        open_said(DataNote, b" " * (NOTE.most + 1), key.public)
    with pytest.raises(SignatureError, match="malformed"):
        open_said(DataNote, b"junk", key.public)


def test_words_that_say_nothing_are_not_signed(keys: tuple[PrivateKey, PrivateKey], tmp_path: Path) -> None:
    for words in ("", "\n", "a" * 20_001):
        with pytest.raises(SignatureError, match="says"):
            sign_said(DataNote(DATA, words, None), keys[0])

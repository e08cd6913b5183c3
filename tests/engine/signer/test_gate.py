"""What the signer lets pass and whom it asks, within one process: the same rules as its process holds."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from tests.frozen.statements import AUDITOR, CLIENT, OTHER, TRAINER, envelopes

from counterfoil.signer import passphrase
from counterfoil.signer.environment import drop_passphrase, take_descriptor
from counterfoil.signer.gate import Gate, Purpose
from counterfoil.signing.kinds import FORMS
from counterfoil.talk.programs import DESCRIPTOR_VARIABLE
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import KeyFileError, SignatureError
from counterfoil_core.signing.kinds import statement_of
from counterfoil_core.signing.statements import read_said

posix = pytest.mark.skipif(os.name != "posix", reason="descriptors and terminals of POSIX")
PAYLOADS = {name: base64.b64decode(json.loads(envelope)["payload"]) for name, envelope in envelopes().items()}
"""The bytes of a statement of each kind, by name."""


def changed(name: str, **fields: Any) -> bytes:
    """A statement with other fields."""
    statement = json.loads(PAYLOADS[name])
    said = read_said(FORMS[statement["predicateType"]], statement)
    return canonical.encode(statement_of(structs.replace(said, **fields)))


def spoilt(name: str, **fields: Any) -> bytes:
    """A statement whose predicate holds what it may not."""
    statement = json.loads(PAYLOADS[name])
    statement["predicate"].update(fields)
    return canonical.encode(statement)


def test_a_verdict_about_another_file_is_not_signed() -> None:
    Gate(Purpose.AUDIT, AUDITOR.public, about="run \xe9.cfoil").check(PAYLOADS["verdict-verified"])
    with pytest.raises(SignatureError, match=r"another file than other\.cfoil"):
        Gate(Purpose.AUDIT, AUDITOR.public, about="other.cfoil").check(PAYLOADS["verdict-verified"])


def test_a_trainers_signer_keeps_to_one_order_and_one_history() -> None:
    gate, other = Gate(Purpose.TRAIN, TRAINER.public), Digest.of(b"another order")
    gate.check(PAYLOADS["acceptance"])
    with pytest.raises(SignatureError, match="already signed"):
        gate.check(PAYLOADS["acceptance"])
    gate.check(PAYLOADS["tree-head"])
    for size in (10, 11):
        with pytest.raises(SignatureError, match="already signed"):
            gate.check(changed("tree-head", size=size, root=Digest.of(b"another history")))
    gate.check(changed("tree-head", size=12))
    for name in ("run", "tree-head"):
        with pytest.raises(SignatureError, match="another order"):
            gate.check(changed(name, order=other, **({"size": 13} if name == "tree-head" else {})))
    with pytest.raises(SignatureError, match="another public key"):
        gate.check(changed("run", public_key=OTHER.public.pem))
    gate.check(PAYLOADS["run"])
    with pytest.raises(SignatureError, match="already signed"):
        gate.check(changed("tree-head", size=13))


def test_a_witnesss_signer_signs_each_line_once() -> None:
    gate = Gate(Purpose.WITNESS, OTHER.public)
    gate.check(PAYLOADS["snapshot-begun"])
    gate.check(PAYLOADS["snapshot-snapshot"])
    for name in ("snapshot-begun", "snapshot-snapshot"):
        with pytest.raises(SignatureError, match="already signed"):
            gate.check(PAYLOADS[name])
    gate.check(PAYLOADS["snapshot-ended"])


@pytest.mark.parametrize(
    ("purpose", "name", "what"),
    [
        (Purpose.NOTE, "data-note", "a note about data"),
        (Purpose.FACTS, "facts", "the facts of a run"),
        (Purpose.RULES, "rules", "what a run showed of rules"),
        (Purpose.COMPARISON, "comparison", "the comparison of an order with a script"),
        (Purpose.ROWS, "row-use", "what a run did with rows"),
        (Purpose.REVOCATIONS, "revocations", "a list of revoked keys"),
        (Purpose.REPLY, "reply", "a reply to a verdict"),
        (Purpose.WITHDRAW, "withdrawal", "the withdrawal of a verdict"),
        (Purpose.RELEASE, "release", "the list of a release"),
        (Purpose.SUMMARY, "svr", "a simple verification result or a verification summary"),
    ],
)
def test_a_signer_of_one_statement_signs_one(purpose: Purpose, name: str, what: str) -> None:
    named = json.loads(PAYLOADS[name])["predicate"].get("public_key")
    key = next((each for each in (AUDITOR, CLIENT, OTHER, TRAINER) if each.public.pem == named), AUDITOR)
    gate = Gate(purpose, key.public)
    with pytest.raises(SignatureError, match=f"signs {what}, and nothing else"):
        gate.check(PAYLOADS["order"])
    if named:
        stranger = next(each for each in (AUDITOR, TRAINER) if each is not key)
        with pytest.raises(SignatureError, match="another public key"):
            gate.check(changed(name, public_key=stranger.public.pem))
    if purpose is not Purpose.SUMMARY:
        with pytest.raises(SignatureError, match="not in the form"):
            gate.check(spoilt(name, more=1))
    gate.check(PAYLOADS[name])
    with pytest.raises(SignatureError, match="already signed"):
        gate.check(PAYLOADS[name])


def test_a_clients_signer_signs_an_order_and_its_comparison_with_the_script() -> None:
    gate, other = Gate(Purpose.ORDER, CLIENT.public), Digest.of(b"another order")
    gate.check(PAYLOADS["order"])
    with pytest.raises(SignatureError, match="already signed"):
        gate.check(PAYLOADS["order"])
    with pytest.raises(SignatureError, match="another order"):
        gate.check(changed("comparison", order=other))
    with pytest.raises(SignatureError, match="another public key"):
        gate.check(changed("comparison", public_key=OTHER.public.pem))
    gate.check(PAYLOADS["comparison"])
    with pytest.raises(SignatureError, match="already signed"):
        gate.check(PAYLOADS["comparison"])
    with pytest.raises(SignatureError, match="or the comparison of an order with a script, and nothing else"):
        Gate(Purpose.ORDER, CLIENT.public).check(PAYLOADS["run"])


def test_a_partys_signer_signs_shares_of_one_order() -> None:
    gate = Gate(Purpose.SHARES, TRAINER.public)
    for step in (1, 2):
        gate.check(changed("share", step=step))
        gate.check(changed("addition", step=step))
    with pytest.raises(SignatureError, match="another order"):
        gate.check(changed("share", order=Digest.of(b"another order")))
    with pytest.raises(SignatureError, match="gave or what was added of a share, and nothing else"):
        gate.check(PAYLOADS["run"])


@posix
def test_without_a_terminal_the_clients_pipe_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_terminal(path: str, *_: Any) -> int:
        raise OSError(6, "No such device or address", path)

    def asked(_: str) -> str:
        raise AssertionError("what a client sends is no passphrase")

    monkeypatch.setattr(passphrase.getpass, "getpass", asked)
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", no_terminal)
        with pytest.raises(KeyFileError, match="no terminal"):
            passphrase.ask_terminal(Path("k.pem"), twice=False)


@posix
def test_what_gives_the_passphrase_is_closed_where_none_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    monkeypatch.setenv(DESCRIPTOR_VARIABLE, str(reading))
    drop_passphrase()
    assert DESCRIPTOR_VARIABLE not in os.environ
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(reading)
    monkeypatch.setenv(DESCRIPTOR_VARIABLE, str(reading))
    with pytest.raises(KeyFileError, match="names no open file descriptor"):
        take_descriptor()
    os.close(writing)


@posix
def test_what_gives_the_passphrase_goes_to_no_other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.set_inheritable(reading, True)
    monkeypatch.setenv(DESCRIPTOR_VARIABLE, str(reading))
    assert take_descriptor() == reading
    assert not os.get_inheritable(reading)
    os.close(reading)
    os.close(writing)

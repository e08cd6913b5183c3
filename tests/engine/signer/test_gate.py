"""What the signer lets pass and whom it asks, within one process: the same rules as its process holds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from counterfoil.signer import asking
from counterfoil.signer.environment import drop_passphrase, take_descriptor
from counterfoil.signer.gate import Gate, Purpose
from counterfoil.talk.programs import DESCRIPTOR_VARIABLE
from counterfoil_core.base import canonical
from counterfoil_core.base.errors import KeyFileError, SignatureError
from counterfoil_core.signing import kinds
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.kinds import make_statement

posix = pytest.mark.skipif(os.name != "posix", reason="descriptors and terminals of POSIX")
ORDER, OTHER = ("a.order", {"sha256": "ab" * 32}), ("a.order", {"sha256": "cd" * 32})


def statement(name: str, digest: Mapping[str, str], kind: str, predicate: dict[str, Any]) -> bytes:
    return canonical.encode(make_statement([{"name": name, "digest": dict(digest)}], kind, predicate))


def test_a_verdict_about_another_file_is_not_signed(trainer_key: SigningKey) -> None:
    def gate() -> Gate:
        return Gate(Purpose.AUDIT, trainer_key.public, about="run.cfoil")

    gate().check(statement("run.cfoil", {"sha256": "ab" * 32}, kinds.VERDICT.predicate, {}))
    with pytest.raises(SignatureError, match=r"another file than run\.cfoil"):
        gate().check(statement("other.cfoil", {"sha256": "ab" * 32}, kinds.VERDICT.predicate, {}))


def test_a_trainers_signer_keeps_to_one_order(trainer_key: SigningKey) -> None:
    public = trainer_key.public
    gate, named = Gate(Purpose.TRAIN, public), {"public_key": public.pem}
    gate.check(statement(*ORDER, kinds.TREE_HEAD.predicate, named))
    gate.check(statement(*ORDER, kinds.TREE_HEAD.predicate, named))
    with pytest.raises(SignatureError, match="another order"):
        gate.check(statement(*OTHER, kinds.TREE_HEAD.predicate, named))
    with pytest.raises(SignatureError, match="another order"):
        gate.check(statement(*OTHER, kinds.RUN.predicate, named))
    with pytest.raises(SignatureError, match="another public key"):
        gate.check(statement(*ORDER, kinds.RUN.predicate, {"public_key": "other"}))
    gate.check(statement(*ORDER, kinds.RUN.predicate, named))
    with pytest.raises(SignatureError, match="already signed"):
        gate.check(statement(*ORDER, kinds.RUN.predicate, named))


@pytest.mark.parametrize(
    ("purpose", "kind", "what"),
    [
        (Purpose.NOTE, kinds.NOTE.predicate, "a note about data"),
        (Purpose.FACTS, kinds.FACTS.predicate, "the facts of a run"),
        (Purpose.RULES, kinds.RULES.predicate, "what a run showed of rules"),
        (Purpose.COMPARISON, kinds.COMPARISON.predicate, "the comparison of an order with a script"),
        (Purpose.ROWS, kinds.ROW_USE.predicate, "what a run did with rows"),
        (Purpose.REVOCATIONS, kinds.REVOCATIONS.predicate, "a list of revoked keys"),
    ],
)
def test_a_signer_of_one_statement_signs_one(purpose: Purpose, kind: str, what: str, trainer_key: SigningKey) -> None:
    public = trainer_key.public
    gate, named = Gate(purpose, public), {"public_key": public.pem}
    with pytest.raises(SignatureError, match=f"signs {what}, and nothing else"):
        gate.check(statement(*ORDER, kinds.ORDER.predicate, named))
    with pytest.raises(SignatureError, match="another public key"):
        gate.check(statement(*ORDER, kind, {"public_key": "other"}))
    gate.check(statement(*ORDER, kind, named))
    with pytest.raises(SignatureError, match="already signed"):
        gate.check(statement(*ORDER, kind, named))


def test_a_clients_signer_signs_an_order_and_its_comparison_with_the_script(trainer_key: SigningKey) -> None:
    public = trainer_key.public
    gate, named = Gate(Purpose.ORDER, public), {"public_key": public.pem}
    gate.check(statement(*ORDER, kinds.ORDER.predicate, named))
    for kind in (kinds.ORDER.predicate, kinds.COMPARISON.predicate):
        with pytest.raises(SignatureError, match="another order"):
            gate.check(statement(*OTHER, kind, named))
        with pytest.raises(SignatureError, match="another public key"):
            gate.check(statement(*ORDER, kind, {"public_key": "other"}))
    gate.check(statement(*ORDER, kinds.COMPARISON.predicate, named))
    with pytest.raises(SignatureError, match="already signed"):
        gate.check(statement(*ORDER, kinds.COMPARISON.predicate, named))
    with pytest.raises(SignatureError, match="or the comparison of an order with a script, and nothing else"):
        Gate(Purpose.ORDER, public).check(statement(*ORDER, kinds.RUN.predicate, named))


def test_a_partys_signer_signs_shares_of_one_order(trainer_key: SigningKey) -> None:
    gate = Gate(Purpose.SHARES, trainer_key.public)
    for step in (1, 2):
        gate.check(statement(*ORDER, kinds.SHARE.predicate, {"step": step}))
        gate.check(statement(*ORDER, kinds.ADDITION.predicate, {"step": step}))
    with pytest.raises(SignatureError, match="another order"):
        gate.check(statement(*OTHER, kinds.SHARE.predicate, {"step": 3}))
    with pytest.raises(SignatureError, match="gave or what was added of a share, and nothing else"):
        gate.check(statement(*ORDER, kinds.RUN.predicate, {"public_key": trainer_key.public.pem}))


@posix
def test_without_a_terminal_the_clients_pipe_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_terminal(path: str, *_: Any) -> int:
        raise OSError(6, "No such device or address", path)

    def asked(_: str) -> str:
        raise AssertionError("what a client sends is no passphrase")

    monkeypatch.setattr(asking.getpass, "getpass", asked)
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", no_terminal)
        with pytest.raises(KeyFileError, match="no terminal"):
            asking.ask_terminal(Path("k.pem"), twice=False)


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

"""What the signer lets pass, asked within one process: the same rules as its process holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from counterfoil import canonical
from counterfoil.errors import SignatureError
from counterfoil.intoto import RUN_PREDICATE, TREE_HEAD_PREDICATE, VERDICT_PREDICATE, make_statement
from counterfoil.signer.gate import Gate, Purpose
from counterfoil.signing import SigningKey
from support.job_fixtures import trainer_key

__all__ = ["trainer_key"]

ORDER, OTHER = ("a.order", {"sha256": "ab" * 32}), ("a.order", {"sha256": "cd" * 32})


def statement(name: str, digest: Mapping[str, str], kind: str, predicate: dict[str, Any]) -> bytes:
    return canonical.encode(make_statement([{"name": name, "digest": dict(digest)}], kind, predicate))


def test_a_verdict_about_another_file_is_not_signed(trainer_key: SigningKey) -> None:
    def gate() -> Gate:
        return Gate(Purpose.AUDIT, trainer_key.public, about="run.cfoil")

    gate().check(statement("run.cfoil", {"sha256": "ab" * 32}, VERDICT_PREDICATE, {}))
    with pytest.raises(SignatureError, match=r"another file than run\.cfoil"):
        gate().check(statement("other.cfoil", {"sha256": "ab" * 32}, VERDICT_PREDICATE, {}))


def test_a_trainers_signer_keeps_to_one_order(trainer_key: SigningKey) -> None:
    public = trainer_key.public
    gate, named = Gate(Purpose.TRAIN, public), {"public_key": public.pem}
    gate.check(statement(*ORDER, TREE_HEAD_PREDICATE, named))
    gate.check(statement(*ORDER, TREE_HEAD_PREDICATE, named))
    with pytest.raises(SignatureError, match="another order"):
        gate.check(statement(*OTHER, TREE_HEAD_PREDICATE, named))
    with pytest.raises(SignatureError, match="another order"):
        gate.check(statement(*OTHER, RUN_PREDICATE, named))
    with pytest.raises(SignatureError, match="another public key"):
        gate.check(statement(*ORDER, RUN_PREDICATE, {"public_key": "other"}))
    gate.check(statement(*ORDER, RUN_PREDICATE, named))
    with pytest.raises(SignatureError, match="already signed"):
        gate.check(statement(*ORDER, RUN_PREDICATE, named))

"""Whose order: every case of docs/threat-model.md's table, and the sentence of each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError, GivenFileError, OrderMismatchError, SignatureError
from counterfoil_core.values.orders import GivenOrder, HeldOrder, OrderFinding, compare_orders
from counterfoil_core.values.outcome import CheckState

PAGE = Path(__file__).parents[3] / "docs" / "threat-model.md"
A, B = Digest.of(b"A"), Digest.of(b"B")
K, L, T = (Digest.of(name).hex for name in (b"client", b"another client", b"trainer"))
WHEN = "2026-01-01T00:00:00Z"


def held(client: str = "", trainer: str = T) -> HeldOrder:
    return HeldOrder(A, client, trainer, WHEN if trainer else "")


# The file's order, the order file that was given, the client's key that was given; state, source and words.
JUDGED = {
    "unsigned, nothing given": (held(), None, "", CheckState.WARNING, "bundle", "", "file itself.*unsigned"),
    "unsigned, the same": (held(), GivenOrder(A), "", CheckState.PASSED, "client", "", "client's. It is unsigned"),
    "unsigned, the same signed": (held(), GivenOrder(A, K), "", CheckState.PASSED, "client", K, "client's own file is"),
    "unsigned, the same signed, its key": (
        held(), GivenOrder(A, K), K, CheckState.PASSED, "client", K, "client's key .* which was given"
    ),
    "signed, nothing given": (held(K), None, "", CheckState.WARNING, "bundle", K, "only the file itself names"),
    "signed, its key": (held(K), None, K, CheckState.PASSED, "signature", K, "client's key .* which was given"),
    "signed, the same": (held(K), GivenOrder(A), "", CheckState.PASSED, "client", K, "only the file itself names"),
    "signed, the same signed": (held(K), GivenOrder(A, K), "", CheckState.PASSED, "client", K, "own file is"),
    "signed, the same, its key": (held(K), GivenOrder(A), K, CheckState.PASSED, "client", K, "which was given"),
}  # fmt: skip
REFUSED: dict[str, tuple[HeldOrder, GivenOrder | None, str, type[CounterfoilError], str]] = {
    "unsigned, another": (held(), GivenOrder(B), "", OrderMismatchError, f"unsigned.*{T[:12]} accepted it.*{WHEN}"),
    "unsigned, another, a key": (held(), GivenOrder(B), K, OrderMismatchError, f"{K[:12]} did not sign it"),
    "unsigned, a key": (held(), None, K, SignatureError, "unsigned; it should be signed"),
    "unsigned, the same unsigned, a key": (held(), GivenOrder(A), K, SignatureError, "unsigned; it should be signed"),
    "signed, another": (held(K), GivenOrder(B), "", OrderMismatchError, f"signed by the key {K[:12]}.*give the key"),
    "signed, another, its key": (held(K), GivenOrder(B), K, GivenFileError, "neither side can disown it"),
    "signed, another signed by it": (held(K), GivenOrder(B, K), "", GivenFileError, "neither side can disown it"),
    "signed, another, its key, not accepted": (held(K, ""), GivenOrder(B), K, OrderMismatchError, "signed by the key"),
    "signed, another key": (held(K), None, L, SignatureError, f"{K[:12]}, and not with the client's key {L[:12]}"),
    "signed, the same by another": (held(K), GivenOrder(A, L), "", SignatureError, "not with the client's key"),
    "signed, another, another key": (held(K), GivenOrder(B), L, OrderMismatchError, f"{L[:12]} did not sign it"),
    "the file and the key given do not agree": (held(K), GivenOrder(A, L), K, GivenFileError, "given with it"),
}


@pytest.mark.parametrize("case", JUDGED)
def test_what_is_judged(case: str) -> None:
    order, given, key, state, source, signer, words = JUDGED[case]
    found = compare_orders(order, given, key)
    assert found == OrderFinding(state, found.detail, source, signer)  # type: ignore[arg-type]
    assert re.search(words, found.detail), found.detail


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_judged(case: str) -> None:
    order, given, key, error, words = REFUSED[case]
    with pytest.raises(error) as caught:
        compare_orders(order, given, key)
    assert type(caught.value) is error
    assert re.search(words, caught.value.sentence), caught.value.sentence
    assert caught.value.remedy


def test_no_other_order_is_ever_judged() -> None:
    """Whoever signed and accepted what: a run of A says nothing about B."""
    for client in ("", K, L):
        for trainer in ("", T):
            for signer in ("", K, L):
                for key in ("", K, L):
                    with pytest.raises(CounterfoilError):
                        compare_orders(held(client, trainer), GivenOrder(B, signer), key)


def test_the_page_has_a_table_of_the_cases() -> None:
    table = PAGE.read_text(encoding="utf-8").split("## Whose order")[1].split("## ")[0]
    rows = [line for line in table.splitlines() if line.startswith(("| unsigned", "| signed"))]
    assert len(rows) == 13
    assert {re.match(r"\w+", row.split("|")[4].strip())[0] for row in rows} == {"judged", "REFUSED", "ERROR"}  # type: ignore[index]

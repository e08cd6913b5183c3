"""Values as bytes for another process: what was written is read again, and nothing else is."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st
from msgspec import Meta

from counterfoil.talk.messages import MAX_SPOKEN, FormError, decode, encode
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.sentence import Sentence, pack_sentence, say
from counterfoil_core.program.limits import LARGE, Limits
from counterfoil_core.values.outcome import Check, CheckNumber, CheckState, Outcome
from counterfoil_core.values.steptable import Recorded
from counterfoil_core.values.workers import LocalWorkers, PartFiles, RayWorkers, Workers

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Given:
    """A value whose one field only the caller can read."""

    value: object


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (Check(CheckNumber.FORMAT, CheckState.PASSED, "x"), Check),
        (Digest.of(b""), Digest),
        (Outcome.DISPUTED, Outcome),
        (CheckNumber.REPLAY, CheckNumber),
        ("bundle", Literal["client", "bundle"]),
        (Path("a") / "\udcff", Path),
        ("\udcff \U0001f600 \0", str),
        (None, Path | None),
        (datetime(2026, 1, 31, 1, 2, 3, 4, tzinfo=UTC), datetime),
        (2**70, int),
        (-(2**63) - 1, int),
        (2**64 - 1, int),
        ((1, "a", 2.5, True, None, b"x"), tuple[int, str, float, bool, None, bytes]),
        ((), tuple[()]),
        (((1, 2), (3,)), tuple[tuple[int, ...], ...]),
        ({"a": (1, "b")}, dict[str, tuple[int | str, ...]]),
        (Recorded.of([0.5, math.nan], [1, 2], [3, 4]), Recorded),
        (PartFiles((Path("a"),)), Workers),
        (LocalWorkers(2, ("cpu",)), Workers),
        (RayWorkers("auto"), Workers | None),
        (LARGE, Limits),
        (b"x", bytes | Check),
    ],
)
def test_what_was_written_is_read(value: Any, kind: Any) -> None:
    found = decode(encode(value), kind)
    assert found == value
    assert type(found) is type(value)


@given(st.recursive(st.integers() | st.text() | st.floats(allow_nan=False), lambda inner: st.lists(inner, max_size=3)))
def test_any_numbers_and_texts(value: Any) -> None:
    def spoken(one: Any) -> Any:
        return say("{0}" * len(one), *map(spoken, one)) if isinstance(one, list) else one

    value = say("{0}", spoken(value)) if not isinstance(value, str) else value
    found = decode(encode(value), str)
    assert found == value
    if isinstance(value, Sentence):
        assert pack_sentence(found) == pack_sentence(value)


@pytest.mark.parametrize("array", [np.arange(6.0).reshape(2, 3), np.zeros((0, 2)), np.array(0.5)])
def test_arrays(array: Floats) -> None:
    found = decode(encode(array), Floats)
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert (found == array).all()
    found[...] = 1  # it is nobody else's
    for other in (npt.NDArray[np.float32], npt.NDArray[np.int64]):
        with pytest.raises(FormError):
            decode(encode(array), other)


def test_numbers_of_numpys_are_numbers() -> None:
    assert decode(encode((np.float64(0.5), np.int64(3), np.bool_(True))), tuple[float, int, bool]) == (0.5, 3, True)


@pytest.mark.parametrize("value", [object(), np.array([object()]), np.datetime64("2026-01-01"), print, 1j])
def test_what_no_message_carries_is_not_written(value: Any) -> None:
    for each in (value, (value,), Given(value)):
        with pytest.raises(FormError):
            encode(each)


@pytest.mark.parametrize("kind", [Any, type, complex, set[int], Path | bytes, list[Any]])
def test_a_type_that_no_message_has(kind: Any) -> None:
    with pytest.raises(TypeError):
        decode(b"\xc0", kind)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (1, str), ("1", int), (1, bool), (True, int), (0.5, int), ("a", Path), (b"a", str), ("a", bytes),
        ("PASSED", CheckState), ("verified", Outcome), (0, CheckNumber), (True, CheckNumber),
        ("trainer", Literal["client"]),
        ((1,), tuple[int, int]), ((1, 2, 3), tuple[int, int]),
        (Check(CheckNumber.FORMAT, CheckState.PASSED), Digest), (None, Check), ("a plain text", Sentence),
        ((1, 2, 3), Annotated[tuple[int, ...], Meta(max_length=2)]), ("abc", Annotated[str, Meta(max_length=2)]),
        (say("{0}", 1), Annotated[str, Meta(max_length=100)]),
    ],
)  # fmt: skip
def test_nothing_is_converted(value: Any, kind: Any) -> None:
    with pytest.raises(FormError):
        decode(encode(value), kind)


def test_a_row_of_integers_has_64_bits() -> None:
    """A shape, or the steps that differ, have no more, and there may be millions."""
    assert decode(encode((2**63,)), tuple[int, ...]) == (2**63,)
    with pytest.raises(FormError):
        encode((2**70,))


def test_a_class_refuses_what_it_refuses() -> None:
    with pytest.raises(FormError, match=">= 32"):
        decode(msgspec.msgpack.encode({"is": "hashed", "value": b"short"}), Digest)


def test_what_only_the_caller_can_read() -> None:
    found = decode(encode(Given(Outcome.DISPUTED)), Given)
    assert decode(found.value, Outcome) is Outcome.DISPUTED
    with pytest.raises(FormError):
        decode(found.value, Digest)


@pytest.mark.parametrize("data", [None, 7, "\xc0", bytearray(b"\xc0"), memoryview(b"\xc0"), [b"\xc0"]])
def test_only_bytes_are_a_message(data: Any) -> None:
    with pytest.raises(FormError, match="no bytes"):
        decode(data, type(None))


def test_sentences_have_room_for_what_people_read() -> None:
    piece = "a" * 2**12
    many = [say("{0} {1}", piece, number) for number in range(MAX_SPOKEN // 2**15)]
    assert decode(encode(many), tuple[str, ...]) == tuple(many)
    with pytest.raises(FormError, match="too long"):
        decode(encode(many * 16), tuple[str, ...])


def test_a_field_more_or_less() -> None:
    check = Check(CheckNumber.FORMAT, CheckState.PASSED)
    said = msgspec.msgpack.decode(encode(check))
    assert decode(msgspec.msgpack.encode(said), Check) == replace(check)
    for name in set(said) - {"is"}:
        less = {each: said[each] for each in said if each != name}
        with pytest.raises(FormError):
            decode(msgspec.msgpack.encode(less), Check)
    with pytest.raises(FormError):
        decode(msgspec.msgpack.encode({**said, "more": 1}), Check)

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, strategies as st

from counterfoil_core.base import canonical
from counterfoil_core.base.canonical import CanonicalError

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
LARGEST = canonical.MAX_EXACT_INTEGER
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-LARGEST, LARGEST) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(value=VALUES)
def test_round_trip(value: object) -> None:
    data = canonical.encode(value)
    assert canonical.decode(data) == value
    assert canonical.encode(canonical.decode(data)) == data


@given(value=st.dictionaries(TEXT, st.integers(0, 9)))
def test_the_order_of_keys_does_not_matter(value: dict[str, int]) -> None:
    assert canonical.encode(dict(reversed(value.items()))) == canonical.encode(value)


def test_known_bytes() -> None:
    value = {"b": [1, True, None], "a": '\u00e9\n"', "": {}}
    assert canonical.encode(value) == '{"":{},"a":"é\\n\\"","b":[1,true,null]}'.encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b'{"a": 1}',
        b'{"b":1,"a":2}',
        b'{"a":1,"a":1}',
        b"1.0",
        b"1e3",
        b"NaN",
        b"-0",
        b"01",
        b'"\\u0041"',
        b' "a"',
        b'"a"\n',
        b"\xff",
        b'"\\ud800"',
        b"9007199254740992",
        b"[" * 100 + b"]" * 100,
        b"[" * 100_000,
        b"\xef\xbb\xbf1",
        '"a"'.encode("utf-16"),
        b"1" * 5000,
    ],
)
def test_bytes_that_are_not_canonical_are_refused(data: bytes) -> None:
    with pytest.raises(CanonicalError):
        canonical.decode(data)


@given(data=st.binary(max_size=40))
def test_junk_gives_our_error_or_a_value_with_these_bytes(data: bytes) -> None:
    try:
        value = canonical.decode(data)
    except CanonicalError:
        return
    assert canonical.encode(value) == data


@pytest.mark.parametrize("value", [1.5, {1: 2}, {"a": b"x"}, 2**53, -(2**53), "\ud800", {"\ud800": 1}, object()])
def test_values_without_a_canonical_form_are_refused(value: object) -> None:
    with pytest.raises(CanonicalError):
        canonical.encode(value)


def test_floats_as_text_are_exact() -> None:
    for value in (0.1, -0.0, 5e-324, math.pi, 1e308):
        assert math.copysign(1, float.fromhex(canonical.float_text(value))) == math.copysign(1, value)
        assert float.fromhex(canonical.float_text(value)) == value
    assert canonical.float_text(math.inf) == "inf"
    assert json.loads(canonical.encode({"x": canonical.float_text(0.5)})) == {"x": "0x1.0000000000000p-1"}

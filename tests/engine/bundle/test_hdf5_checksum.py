"""lookup3: the author's own values, a second implementation, and many strings at once."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from counterfoil_core.bundle.hdf5 import checksum
from counterfoil_core.bundle.hdf5.checksum import lookup3, lookup3_all
from support.hostile import lookup3 as reference


def test_the_value_that_its_author_gives() -> None:
    """``driver5`` of lookup3.c."""
    assert lookup3(b"Four score and seven years ago") == 0x17770551


@given(st.binary(min_size=1, max_size=100))
def test_one_string(data: bytes) -> None:
    assert lookup3(data) == reference(data)


@pytest.fixture(params=["compiled", "interpreted"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash many strings by what is compiled, however few they are, or by Python, however many."""
    monkeypatch.setattr(checksum, "FEW_BYTES", 0 if request.param == "compiled" else 2**40)


@pytest.mark.usefixtures("way")
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(min_size=1, max_size=60), max_size=80), st.integers(0, 3))
def test_many_strings_of_any_lengths(strings: list[bytes], long: int) -> None:
    strings += [bytes([number]) * 1000 for number in range(long)]
    assert lookup3_all(strings) == [reference(data) for data in strings]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("count", [24, 25, 26, 4095, 4097, 9000])
def test_as_many_as_are_taken_at_once_and_more(count: int) -> None:
    strings = [b"layer.%d.weight" % number * (1 + number % 3) for number in range(count)]
    assert lookup3_all(strings) == [lookup3(data) for data in strings]


def test_long_strings_are_taken_a_few_at_a_time() -> None:
    strings = [bytes([number]) * (2**16 - number) for number in range(100)]
    assert sum(map(len, strings)) > checksum.FEW_BYTES
    assert lookup3_all(strings) == [lookup3(data) for data in strings]

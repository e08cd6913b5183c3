"""The log codec: round trips, compactness, and refusal of anything malformed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from counterfoil_core.arithmetic.grid.log import SiteLog, decode, encode
from counterfoil_core.base.errors import LogError
from counterfoil_core.kernels.grid import LARGEST_EXPONENT, ZERO_SCALE


def site(exponent: int, indices: list[int], ups: list[bool]) -> SiteLog:
    return SiteLog(exponent, np.array(indices, np.int64), np.array(ups, np.bool_))


@st.composite
def logs(draw: st.DrawFn) -> tuple[list[SiteLog], list[int]]:
    sites, elements = [], []
    for _ in range(draw(st.integers(0, 5))):
        limit = draw(st.one_of(st.integers(0, 40), st.integers(0, 2**40)))
        wanted = st.lists(st.integers(0, max(limit - 1, 0)), unique=True, max_size=min(limit, 30))
        indices = sorted(draw(wanted)) if limit else []
        ups = draw(st.lists(st.booleans(), min_size=len(indices), max_size=len(indices)))
        exponent = draw(st.one_of(st.just(ZERO_SCALE), st.integers(-1074, LARGEST_EXPONENT)))
        sites.append(site(exponent, indices, ups))
        elements.append(limit)
    return sites, elements


def same(left: SiteLog, right: SiteLog) -> bool:
    return (
        left.exponent == right.exponent
        and left.indices.tolist() == right.indices.tolist()
        and left.ups.tolist() == right.ups.tolist()
    )


@given(logs())
@settings(max_examples=300)
def test_round_trip(case: tuple[list[SiteLog], list[int]]) -> None:
    sites, elements = case
    decoded = decode(encode(sites), elements)
    assert len(decoded) == len(sites)
    assert all(same(a, b) for a, b in zip(sites, decoded, strict=True))


@given(logs(), st.data())
@settings(max_examples=200)
def test_every_truncation_is_an_error(case: tuple[list[SiteLog], list[int]], data: st.DataObject) -> None:
    sites, elements = case
    encoded = encode(sites)
    length = data.draw(st.integers(0, len(encoded) - 1))
    with pytest.raises(LogError):
        decode(encoded[:length], elements)
    with pytest.raises(LogError, match="too many"):
        decode(encoded + b"\0", elements)


@given(st.binary(max_size=60), st.lists(st.integers(0, 1000), max_size=4))
@settings(max_examples=500)
def test_junk_gives_a_log_or_a_log_error(junk: bytes, elements: list[int]) -> None:
    for data in (junk, b"\x01" + junk):
        try:
            sites = decode(data, elements)
        except LogError:
            continue
        for entry, limit in zip(sites, elements, strict=True):
            indices = entry.indices.tolist()
            assert indices == sorted(set(indices))
            assert all(0 <= index < limit for index in indices)


@given(logs(), st.data())
@settings(max_examples=300)
def test_a_flipped_bit_never_decodes_to_the_same_log(
    case: tuple[list[SiteLog], list[int]], data: st.DataObject
) -> None:
    sites, elements = case
    encoded = bytearray(encode(sites))
    bit = data.draw(st.integers(0, 8 * len(encoded) - 1))
    encoded[bit // 8] ^= 1 << (bit % 8)
    try:
        decoded = decode(bytes(encoded), elements)
    except LogError:
        return
    # Another Rice parameter may spell the same entries, and nothing else may: no bit of padding, no longer number. The
    # Merkle leaf commits to the bytes.
    if all(same(a, b) for a, b in zip(sites, decoded, strict=True)):
        assert bit // 8 in places_of_parameters(sites)


def places_of_parameters(sites: list[SiteLog]) -> list[int]:
    """Where the Rice parameters of sites with entries stand: behind their exponent and their count."""
    places = []
    for number, one in enumerate(sites):
        if len(one.indices):
            code = 0 if one.exponent == ZERO_SCALE else 1 + max(2 * one.exponent, -2 * one.exponent - 1)
            numbers = sum(max(1, -(-value.bit_length() // 7)) for value in (code, len(one.indices)))
            places.append(len(encode(sites[:number])) + numbers)
    return places


@pytest.mark.parametrize("junk", range(1, 8))
def test_the_last_byte_of_entries_is_filled_with_zeros(junk: int) -> None:
    """One entry, a gap of 0 and k = 0: two bits of the byte are in use."""
    encoded = bytearray(encode([site(3, [0], [True])]))
    assert encoded[-2:] == b"\0\2"
    encoded[-1] |= 1 << (junk if junk > 1 else 2)
    with pytest.raises(LogError, match="bits that are not zero"):
        decode(bytes(encoded), [5])


@pytest.mark.parametrize("place", [1, 2], ids=["exponent", "count"])
def test_numbers_have_one_spelling(place: int) -> None:
    encoded = encode([site(3, [0], [True])])
    assert decode(encoded, [5])[0].exponent == 3
    longer = encoded[:place] + bytes([encoded[place] | 0x80, 0]) + encoded[place + 1 :]
    with pytest.raises(LogError, match="shortest form"):
        decode(longer, [5])


def test_what_is_encoded_has_the_parameter_of_the_page() -> None:
    """k = ceil(log2(g ln 2)) of the mean gap g, 0 at least: who writes a log spells it in one way."""
    for gap, wanted in ((1, 0), (2, 1), (3, 2), (1000, 10), (10**6, 20)):
        indices = list(range(gap - 1, 50 * gap, gap))
        sites = [site(0, indices, [False] * len(indices))]
        assert encode(sites)[places_of_parameters(sites)[0]] == wanted


def test_size_is_close_to_the_entropy() -> None:
    rng = np.random.default_rng(3)
    elements, share = 4_000_000, 1e-4
    indices = np.flatnonzero(rng.random(elements) < share)
    ups = rng.random(len(indices)) < 0.5
    bits = 8 * len(encode([SiteLog(3, indices, ups)]))
    entropy = elements * (-share * np.log2(share) - (1 - share) * np.log2(1 - share)) + len(indices)
    assert bits < 1.06 * entropy


def test_a_claim_of_many_entries_is_refused_before_memory_is_taken() -> None:
    huge = b"\x01" + b"\x01" + b"\xff\xff\xff\xff\x7f" + b"\x00"
    with pytest.raises(LogError, match="claims"):
        decode(huge, [2**40])


def test_wrong_version_and_impossible_exponent() -> None:
    with pytest.raises(LogError, match="format"):
        decode(b"\x02\x00\x00", [1])
    exponent_128 = 1 + 2 * 128
    with pytest.raises(LogError, match="128"):
        decode(bytes([1, exponent_128 & 0x7F | 0x80, exponent_128 >> 7, 0]), [1])

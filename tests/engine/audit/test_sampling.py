"""Which segments are replayed, and what a clean sample proves."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import replace
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, strategies as st

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError
from counterfoil_core.bundle.extent import Extent
from counterfoil_core.values.beacon import QUICKNET, Beacon
from counterfoil_core.values.sampling import (
    NonceSource,
    Sample,
    SegmentRequest,
    Selection,
    bad_segments,
    draw_segments,
    passing_probability,
    planned_steps,
    probability_text,
    ranges,
    sample_size,
    segment,
    segment_count,
)
from support.bundles import make_contents

NONCE = "5e" * 32
ROOT = Digest.of(b"a run root")


def extent(steps: int, every: int) -> Extent:
    return make_contents(steps=steps, checkpoint_every=every, run=False).manifest.extent


# Segments.


@given(st.integers(1, 60), st.integers(1, 70))
def test_segments_cover_every_step_once_and_end_at_checkpoints(steps, every):
    order = extent(steps, every)
    parts = [segment(order, number) for number in range(1, segment_count(order) + 1)]
    assert [step for part in parts for step in range(part.first, part.last + 1)] == list(range(1, steps + 1))
    assert tuple(part.last for part in parts) == order.checkpoint_steps
    for number in (0, len(parts) + 1):
        with pytest.raises(IndexError):
            segment(order, number)


@given(st.integers(1, 60), st.integers(1, 9), st.data())
def test_planned_steps_is_the_sum_over_the_chosen_segments(steps, every, data):
    order = extent(steps, every)
    total = segment_count(order)
    numbers = sorted(data.draw(st.sets(st.integers(1, total), min_size=1)))
    sample = Sample(total, tuple(ranges(numbers)), Selection.LISTED)
    assert list(sample.numbers()) == numbers
    assert sample.count == len(numbers)
    assert planned_steps(order, sample) == sum(segment(order, n).last - segment(order, n).first + 1 for n in numbers)


# Probabilities.


@given(st.integers(1, 300), st.data())
def test_the_probability_is_hypergeometric(total, data):
    bad = data.draw(st.integers(0, total))
    count = data.draw(st.integers(0, total))
    exact = Fraction(comb(total - bad, count), comb(total, count))
    assert passing_probability(total, bad, count) == pytest.approx(float(exact), rel=1e-12, abs=0)


def test_the_probability_is_what_drawing_every_sample_gives():
    bad = {2, 5}
    samples = list(itertools.combinations(range(1, 9), 3))
    clean = sum(not bad & set(sample) for sample in samples)
    assert passing_probability(8, 2, 3) == pytest.approx(clean / len(samples))


@given(st.integers(1, 300), st.floats(0.01, 0.9999), st.data())
def test_the_sample_is_the_least_that_is_large_enough(total, confidence, data):
    bad = data.draw(st.integers(1, total))
    count = sample_size(total, bad, confidence)
    assert 1 - passing_probability(total, bad, count) >= confidence
    if count > 1:
        assert 1 - passing_probability(total, bad, count - 1) < confidence


def test_a_million_segments_need_few():
    # Without replacement barely matters there: 0.99^459 is just below 0.01.
    assert sample_size(10**6, bad_segments(10**6, 0.01), 0.99) == 459
    assert sample_size(100, bad_segments(100, 0.01), 0.99) == 99


def test_probabilities_in_words():
    assert [probability_text(p) for p in (0.0, 1.0, 0.25, 1e-7, 0.99999)] == ["0", "1", "0.25", "1e-07", "1 - 1e-05"]


# The draw.


def test_the_draw_is_the_documented_ranking():
    ranks = sorted(
        range(1, 41),
        key=lambda i: hashlib.sha256(
            b"counterfoil segment sample v1" + bytes.fromhex(NONCE) + ROOT.value + i.to_bytes(8, "little")
        ).digest(),
    )
    assert draw_segments(40, 7, NONCE, ROOT) == tuple(sorted(ranks[:7]))


@given(st.integers(1, 200), st.data())
def test_a_draw_has_as_many_segments_as_asked_for_and_larger_ones_contain_it(total, data):
    count = data.draw(st.integers(1, total))
    drawn = draw_segments(total, count, NONCE, ROOT)
    assert len(set(drawn)) == count
    assert set(drawn) <= set(range(1, total + 1))
    assert set(drawn) <= set(draw_segments(total, min(total, count + 1), NONCE, ROOT))


def test_nonce_and_run_root_both_decide():
    drawn = draw_segments(1000, 20, NONCE, ROOT)
    assert drawn != draw_segments(1000, 20, "5f" + NONCE[2:], ROOT)
    assert drawn != draw_segments(1000, 20, NONCE, Digest.of(b"another run root"))


def test_every_segment_is_drawn_about_equally_often():
    hits = dict.fromkeys(range(1, 21), 0)
    for number in range(2000):
        for drawn in draw_segments(20, 5, number.to_bytes(32, "little").hex(), ROOT):
            hits[drawn] += 1
    # Expected 500 each, standard deviation about 19.
    assert all(400 < count < 600 for count in hits.values())


def test_a_nonce_is_fresh_each_time():
    order = extent(60, 5)
    samples = [SegmentRequest(count=3).resolve(order, ROOT) for _ in range(2)]
    assert samples[0].nonce != samples[1].nonce
    again = SegmentRequest(count=3, nonce=samples[0].nonce).resolve(order, ROOT)
    assert again == replace(samples[0], source=NonceSource.GIVEN)


def test_the_sentence_says_where_the_nonce_came_from():
    order = extent(60, 5)
    drawn = SegmentRequest(count=3).resolve(order, ROOT)
    assert "drawn at random after the run was signed; a run with" in drawn.describe()
    assert "given to the audit; if the trainer could not know it" in replace(drawn, source=NonceSource.GIVEN).describe()
    round_ = Beacon(QUICKNET, 1, "ab" * 48)
    by_beacon = SegmentRequest(count=3, beacon=round_).resolve(order, ROOT)
    assert by_beacon.nonce == round_.nonce
    assert "round 1 of the public beacon quicknet, published at 2023-08-23T15:09:27Z; if" in by_beacon.describe()
    # Who is not told claims nothing.
    assert "given to the audit" in replace(drawn, source=None).describe()
    for wrong in (
        {"nonce": NONCE, "beacon": round_, "count": 3},
        {"beacon": round_},
        {"beacon": round_, "numbers": (1,)},
    ):
        with pytest.raises(DataError):
            SegmentRequest(**wrong)


def test_the_number_of_bad_segments_is_exact():
    """The share is the decimal number that somebody wrote: 7 of 100 are 0.07 of them."""
    for thousandths in range(1, 1001):
        fraction = thousandths / 1000
        for total in (1, 3, 10, 100, 123, 200, 500, 1000, 4321, 10**6):
            expected = max(1, -(-thousandths * total // 1000))
            assert bad_segments(total, fraction) == expected, (total, fraction)
    assert (bad_segments(100, 0.07), sample_size(100, 7, 0.99)) == (7, 47)
    assert bad_segments(10**6, 1e-07) == 1
    assert bad_segments(3, 1.0) == 3


@given(st.integers(1, 80), st.data(), st.integers(1, 999))
def test_the_sample_is_the_least_that_has_the_confidence(total, data, thousandths):
    bad = data.draw(st.integers(1, total))
    allowed = 1 - Fraction(thousandths, 1000)
    found = sample_size(total, bad, thousandths / 1000)
    passing = [Fraction(comb(total - bad, count), comb(total, count)) for count in range(total + 1)]
    assert passing[found] <= allowed
    assert found == 1 or passing[found - 1] > allowed


def test_a_sample_at_the_very_edge():
    """3 of 4 segments miss one bad one with probability 1/4 exactly; float64 numbers say 0.1 + 0.2 > 0.3 as well."""
    assert sample_size(4, 1, 0.75) == 3
    assert sample_size(10, 1, 0.7) == 7
    assert sample_size(10, 1, 0.3) == 3
    assert sample_size(1000, 1, 0.999) == 999


# Requests.


@pytest.mark.parametrize(
    ("text", "numbers", "selection"),
    [
        (None, list(range(1, 13)), Selection.ALL),
        ("all", list(range(1, 13)), Selection.ALL),
        ("7-7", [7], Selection.LISTED),
        ("9,3,3,7-8", [3, 7, 8, 9], Selection.LISTED),
        ("1-12", list(range(1, 13)), Selection.LISTED),
    ],
)
def test_requests_by_hand(text, numbers, selection):
    sample = SegmentRequest.parse(text).resolve(extent(60, 5), ROOT)
    assert list(sample.numbers()) == numbers
    assert sample.selection is selection
    assert sample.passing == 1.0
    assert not sample.nonce


def test_requests_at_random():
    order = extent(200, 2)
    by_count = SegmentRequest.parse("5", nonce=NONCE).resolve(order, ROOT)
    assert tuple(by_count.numbers()) == draw_segments(100, 5, NONCE, ROOT)
    assert (by_count.bad, by_count.passing) == (1, pytest.approx(0.95))
    sure = SegmentRequest.parse(None, confidence=0.9, bad_fraction=0.05).resolve(order, ROOT)
    assert sure.bad == 5
    assert sure.count == sample_size(100, 5, 0.9)
    assert "5 bad segments would have passed with probability" in sure.describe()


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": "0"},
        {"text": "13"},
        {"text": "3-2"},
        {"text": "0-1"},
        {"text": "12-13"},
        {"text": "three"},
        {"text": "1,"},
        {"text": "-4"},
        {"text": "1-99999999"},
        {"text": ""},
        {"text": "3", "confidence": 0.9},
        {"text": None, "confidence": 1.0},
        {"text": None, "confidence": 0.0},
        {"text": None, "confidence": 0.9, "bad_fraction": 0.0},
        {"text": "3", "nonce": "beef"},
        {"text": "3", "nonce": NONCE.upper()},
        {"text": "3-4", "nonce": NONCE},
        {"text": None, "nonce": NONCE},
    ],
)
def test_requests_that_make_no_sense(arguments):
    with pytest.raises(DataError) as raised:
        SegmentRequest.parse(**arguments).resolve(extent(60, 5), ROOT)
    assert str(raised.value)


def test_a_list_of_segments_has_a_length():
    """10,000 characters; and nothing is made of more numbers than a run may have."""
    longest = ",".join(["7"] * 5_000)
    assert len(longest) == 9_999
    assert tuple(SegmentRequest.parse(longest + "1").resolve(extent(400, 5), ROOT).numbers()) == (7, 71)
    with pytest.raises(DataError, match=r"The segments '7,7,.*cannot be read"):
        SegmentRequest.parse(longest + "11")


@pytest.mark.parametrize(
    ("text", "count"),
    [("5-10000004", 10**7), ("5-10000005", 0), ("999999999-999999999", 1), ("1000000000-1000000000", 0)],
)
def test_a_range_of_segments_has_a_length(text, count):
    if count:
        assert len(SegmentRequest.parse(text).numbers) == count
    else:
        with pytest.raises(DataError, match="not a range"):
            SegmentRequest.parse(text)

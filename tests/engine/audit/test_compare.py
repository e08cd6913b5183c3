from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from counterfoil_core.commit.merkle import leaf_hash
from counterfoil_core.commit.state import CHUNK_BYTES, tensor_digest
from counterfoil_core.judge.compare import (
    ELEMENTS_BEFORE,
    ELEMENTS_SHOWN,
    compare_states,
    compare_tensors,
    detail_difference,
    ulp_distances,
)

SPECIAL = st.sampled_from(
    [0.0, -0.0, math.inf, -math.inf, math.nan, 2.0**-149, -(2.0**-149), 3.4028234663852886e38, 1.0]
)
FLOATS = st.floats(width=32) | SPECIAL
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)


def bits(value: float) -> int:
    return struct.unpack("<I", struct.pack("<f", value))[0]


def position(value: float) -> int:
    """Number of the float32 value on the line of all of them; both zeros are 0."""
    number = bits(value)
    return number if number < 2**31 else 2**31 - number


def reference(trainer: Any, replay: Any, floating: bool) -> tuple[int, float, int, float]:
    """Differing elements, largest difference, largest distance in ulps, Euclidean norm; element by element."""
    count, largest, ulps, squares = 0, 0.0, 0, 0.0
    for a, b in zip(trainer.flatten().tolist(), replay.flatten().tolist(), strict=True):
        differs = bits(a) != bits(b) if floating else a != b
        if not differs:
            continue
        count += 1
        difference = math.inf if math.isnan(a) or math.isnan(b) else abs(float(a) - float(b))
        largest = max(largest, difference)
        squares += difference**2 if difference < math.inf else math.inf
        ulps = max(ulps, abs(position(a) - position(b)) if floating else abs(int(a) - int(b)))
    return count, largest, ulps, math.sqrt(squares)


def pairs(dtype: Any, elements: Any) -> Any:
    """Two arrays of one shape, most elements equal."""

    def both(shape: tuple[int, ...]) -> Any:
        arrays = hnp.arrays(dtype, shape, elements=elements)
        return st.tuples(arrays, arrays, hnp.arrays(bool, shape))

    return SHAPES.flatmap(both).map(lambda drawn: (drawn[0], np.where(drawn[2], drawn[1], drawn[0]).astype(dtype)))


def agrees(trainer: Any, replay: Any, floating: bool) -> None:
    found = compare_tensors("t", trainer, replay)
    count, largest, ulps, norm = reference(trainer, replay, floating)
    assert found.differing == count
    assert found.max_abs == largest
    assert found.max_ulps == ulps
    assert found.l2 == pytest.approx(norm, rel=1e-12)
    assert found.shape == trainer.shape
    if count:
        assert len(found.index) == trainer.ndim
        one, other = trainer[found.index], replay[found.index]
        assert one.tobytes() != other.tobytes()
        assert found.trainer == one or math.isnan(one)
        assert found.replay == other or math.isnan(other)
        if largest < math.inf:
            assert abs(float(one) - float(other)) == largest
    else:
        assert found.index == ()


@given(pairs(np.float32, FLOATS))
def test_float32_against_the_reference(pair):
    agrees(*pair, floating=True)


@pytest.mark.parametrize(
    ("dtype", "low", "high"), [(np.int64, -(2**53), 2**53), (np.int32, -(2**31), 2**31 - 1), (np.uint8, 0, 255)]
)
def test_integers_against_the_reference(dtype, low, high):
    @given(pairs(dtype, st.integers(low, high)))
    def check(pair):
        agrees(*pair, floating=False)

    check()


@given(pairs(np.bool_, st.booleans()))
def test_truth_values_against_the_reference(pair):
    agrees(*pair, floating=False)


def test_the_two_zeros_differ_in_their_bits_alone():
    found = compare_tensors("t", np.array([1.0, 0.0], np.float32), np.array([1.0, -0.0], np.float32))
    assert (found.differing, found.max_abs, found.max_ulps, found.l2, found.index) == (1, 0.0, 0, 0.0, (1,))
    assert math.copysign(1, found.replay) == -1


def test_not_a_number_is_evidence():
    found = compare_tensors("t", np.array([1.0, math.nan, 5.0], np.float32), np.array([1.0, 2.0, 9.0], np.float32))
    assert (found.differing, found.max_abs, found.index, found.replay) == (2, math.inf, (1,), 2.0)
    same = np.array([math.nan], np.float32)
    assert compare_tensors("t", same, same.copy()).differing == 0


def test_neighbours_are_one_ulp_apart():
    one = np.array([1.0, -1.0, 2.0**-149, 0.0], np.float32)
    other = np.nextafter(one, np.float32(np.inf))
    for a, b in zip(one, other, strict=True):
        assert compare_tensors("t", np.array(a), np.array(b)).max_ulps == 1


def test_differences_beyond_int64():
    found = compare_tensors("t", np.array([2**63 - 1]), np.array([-(2**63)]))
    assert found.max_ulps == 2**64 - 1


def test_states_are_compared_in_the_order_of_names():
    state = {"b": np.zeros(2, np.float32), "a": np.ones((), np.int64), "c": np.zeros((0, 3), np.float32)}
    found = compare_states(state, {name: array.copy() for name, array in state.items()})
    assert [tensor.name for tensor in found] == ["a", "b", "c"]
    assert all(tensor.differing == 0 for tensor in found)


def test_arrays_that_are_not_contiguous():
    one = np.arange(12, dtype=np.float32).reshape(3, 4).T
    other = one.copy()
    other[2, 1] += 1
    assert compare_tensors("t", one, other).index == (2, 1)


def test_detail_leads_from_the_digest_to_the_elements() -> None:
    per_chunk = CHUNK_BYTES // 4
    trainer = np.arange(3 * per_chunk, dtype=np.float32).reshape(3, per_chunk)
    replay = trainer.copy()
    replay[1, 7] = np.nextafter(replay[1, 7], np.float32(np.inf))
    replay[2, 0] += np.float32(1)
    detail = detail_difference("w", trainer, replay)
    assert (detail.trainer, detail.replay) == (tensor_digest("w", trainer), tensor_digest("w", replay))
    assert (detail.chunks, detail.differing_chunks, detail.first_chunk) == (3, 2, 1)
    assert detail.trainer_chunk == leaf_hash(trainer[1].tobytes())
    assert detail.replay_chunk == leaf_hash(replay[1].tobytes())
    assert len(detail.elements) == ELEMENTS_SHOWN
    assert [element.index for element in detail.elements if not element.equal] == [(1, 7)]
    first = detail.elements[ELEMENTS_BEFORE]
    assert (first.index, first.ulps) == ((1, 7), 1)
    assert (first.trainer, first.replay) == (float(trainer[1, 7]), float(replay[1, 7]))


def test_detail_of_two_zeros_and_of_a_scalar() -> None:
    detail = detail_difference("z", np.array(0.0, np.float32), np.array(-0.0, np.float32))
    (element,) = detail.elements
    assert (element.index, element.ulps, element.equal) == ((), 0, False)
    counter = detail_difference("n", np.array([5, 6], np.int64), np.array([5, 9], np.int64))
    assert [(e.index, e.ulps, e.equal) for e in counter.elements] == [((0,), 0, True), ((1,), 3, False)]


def test_equal_tensors_have_no_detail() -> None:
    with pytest.raises(ValueError, match="equal"):
        detail_difference("w", np.zeros(3, np.float32), np.zeros(3, np.float32))


@given(st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=60))
def test_detail_shows_the_first_difference(values: list[tuple[float, float]]) -> None:
    trainer, replay = (np.array(side, np.float32) for side in zip(*values, strict=True))
    differs = [bits(a) != bits(b) for a, b in zip(trainer.tolist(), replay.tolist(), strict=True)]
    if not any(differs):
        return
    detail = detail_difference("w", trainer, replay)
    shown = next(element for element in detail.elements if not element.equal)
    assert shown.index == (differs.index(True),)
    for element in detail.elements:
        assert element.equal is not differs[element.index[0]]
        assert element.ulps == abs(position(element.trainer) - position(element.replay))


def test_ulps_keep_the_shape() -> None:
    ones = np.ones((2, 3), np.float32)
    assert ulp_distances(ones, np.nextafter(ones, np.float32(2))).tolist() == [[1, 1, 1], [1, 1, 1]]

"""What a trainer's fingerprint says about the values behind it. Pure.

A fingerprint is a sum over the elements of an invertible mixing function of each element's bits and index. If a single
element differs from the replay's, the difference of the two sums gives, for each index, the one value that could stand
there; all but the true one are random bit patterns, of which about one in 2^34 looks like a value of the grid. If
elements were rounded to the other side of a midpoint, they are among those close to one, and their sum finds them: any
subset of the few that hardware may round either way and that the log does not mention (meet in the middle, Horowitz
and Sahni 1974), or two or three of the many that lie close.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from counterfoil_core.arithmetic.grid.neighbours import Values, neighbours, on_grid
from counterfoil_core.kernels.grid import Grid

UInt64Array = npt.NDArray[np.uint64]
Int64Array = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

MOST_UNLOGGED = 40
"""Elements that may have been rounded to the other side, of which every subset is tried: 2^20 sums twice."""
MOST_CANDIDATES = 1500
"""Elements close to a midpoint that are tried in pairs and triples: about a million sums."""
MOST_ASKED = 1 << 20
"""Elements of a tensor of an exact profile among which one is looked for: one in 2^31 fits by chance."""
_BLOCK = 1 << 20
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIER = np.uint64(0xBF58476D1CE4E5B9)
_INVERSE = np.uint64(pow(0xBF58476D1CE4E5B9, -1, 2**64))


@dataclass(frozen=True)
class Explanation:
    """What a fingerprint tells."""

    #: The elements of the trainer's tensor that differ from the replay's, and the trainer's values there; None when
    #: nothing of the kind explains the difference, or more than one thing does.
    values: Values | None
    #: Whether the difference is certainly not that some of the close elements, and nothing else, were rounded to the
    #: other side: every subset of them was tried.
    rounding_excluded: bool


def explain(
    before: FloatArray, after: FloatArray, grid: Grid, key: int, difference: int, close: Int64Array
) -> Explanation:
    """Find the elements in which the trainer's tensor differs from the replay's, where the fingerprints tell.

    That is one element that differs by any amount, or several that were rounded to the other side of a midpoint.

    Args:
        before: float64 ``[n]``: the replay's values before rounding.
        after: float64 ``[n]``: the replay's values.
        grid: The grid.
        key: Fingerprint key of the site.
        difference: The trainer's fingerprint less the replay's, mod 2^64; not 0.
        close: int64 ``[k]``, ascending: the elements that honest hardware may have rounded to the other side, and of
            which the log does not say so.
    """
    other = neighbours(before, after, grid).other
    excluded = False
    # What may be honest rounding comes first: in a large tensor a single value may fit by chance, and would accuse.
    if len(close) <= MOST_UNLOGGED:
        found = subsets(_changes(close, other, after, key), difference)
        if len(found) == 1:
            return Explanation(Values(close[found[0]], other[close[found[0]]]), False)
        excluded = not found
    single = _single(after, grid, key, difference)
    if len(single.indices):
        return Explanation(single if len(single.indices) == 1 else None, excluded)
    distance = np.abs(neighbours(before, after, grid).distance)
    count = min(MOST_CANDIDATES, len(distance))
    closest = np.sort(np.argpartition(distance, count - 1)[:count])
    chosen = pair_or_triple(_changes(closest, other, after, key), difference)
    return Explanation(None if chosen is None else Values(closest[chosen], other[closest[chosen]]), excluded)


def changed_alone(values: npt.NDArray[Any], key: int, difference: int) -> tuple[int, bool | int | float] | None:
    """Find the one element that, changed alone to another value of its dtype, gives a difference of fingerprints.

    Args:
        values: float32, float64, an integer dtype or bool, ``[n]``: the values of one side.
        key: Fingerprint key of the place.
        difference: The other side's fingerprint less this one's, mod 2^64; not 0.

    Returns:
        Its index and the other side's value; None where no element gives it, several do, or so many are asked that one
        may by chance. Of a float32 tensor of n elements one does by chance with a probability of n / 2^31.
    """
    if len(values) > MOST_ASKED:
        return None
    floating = values.dtype.kind == "f"
    found: list[tuple[int, bool | int | float]] = []
    for start in range(0, len(values), _BLOCK):
        block = values[start : start + _BLOCK].astype(np.float64 if floating else np.int64)
        indices = np.arange(start, start + len(block), dtype=np.int64)
        bits = unmix_bits(mix(block, indices, key) + np.uint64(difference), indices, key)
        others = bits.view(block.dtype)
        fits = _holds(others, values.dtype)
        found += [
            (index, values.dtype.type(value).item()) for index, value in zip(indices[fits], others[fits], strict=True)
        ]
    return (int(found[0][0]), found[0][1]) if len(found) == 1 else None


def _holds(values: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[np.bool_]:
    """Which float64 or int64 values a dtype holds."""
    with np.errstate(over="ignore", invalid="ignore"):
        narrowed = values.astype(dtype)
    return np.asarray(narrowed.astype(values.dtype) == values)


def mix(values: npt.NDArray[Any], indices: Int64Array, key: int) -> UInt64Array:
    """Return the fingerprint terms of single elements, float64 or int64, as uint64 ``[k]``."""
    z = (values.view(np.uint64) ^ np.uint64(key)) + (indices.astype(np.uint64) + np.uint64(1)) * _GOLDEN
    z = (z ^ (z >> np.uint64(32))) * _MULTIPLIER
    return np.asarray(z ^ (z >> np.uint64(29)))


def unmix(terms: UInt64Array, indices: Int64Array, key: int) -> FloatArray:
    """Return the values whose fingerprint terms these are: the inverse of :func:`mix`."""
    return np.asarray(unmix_bits(terms, indices, key).view(np.float64))


def unmix_bits(terms: UInt64Array, indices: Int64Array, key: int) -> UInt64Array:
    """Return the bits of these values."""
    z = terms ^ (terms >> np.uint64(29)) ^ (terms >> np.uint64(58))
    z = z * _INVERSE
    z = z ^ (z >> np.uint64(32))
    return np.asarray((z - (indices.astype(np.uint64) + np.uint64(1)) * _GOLDEN) ^ np.uint64(key))


def _single(after: FloatArray, grid: Grid, key: int, difference: int) -> Values:
    """Find all elements that, changed alone to some value of the grid, give the difference."""
    found_indices, found_values = [], []
    for start in range(0, len(after), _BLOCK):
        block = after[start : start + _BLOCK]
        indices = np.arange(start, start + len(block), dtype=np.int64)
        values = unmix(mix(block, indices, key) + np.uint64(difference), indices, key)
        fits = on_grid(values, grid)
        found_indices.append(indices[fits])
        found_values.append(values[fits])
    return Values(np.concatenate(found_indices), np.concatenate(found_values))


def _changes(indices: Int64Array, other: FloatArray, after: FloatArray, key: int) -> UInt64Array:
    """Return what rounding each of these elements to the other side adds to the fingerprint."""
    return np.asarray(mix(other[indices], indices, key) - mix(after[indices], indices, key))


def subsets(changes: UInt64Array, difference: int) -> list[Int64Array]:
    """Return the positions of the subsets of at most ``MOST_UNLOGGED`` numbers that have this sum mod 2^64.

    Of three or more that differ in the second half of the numbers alone, two are found.
    """
    middle = len(changes) // 2
    left, right = _subset_sums(changes[:middle]), _subset_sums(changes[middle:])
    order = np.argsort(right)
    ordered = right[order]
    needed = np.uint64(difference) - left
    places = np.searchsorted(ordered, needed)
    found = []
    for place in (places, places + 1):
        inside = np.minimum(place, len(ordered) - 1)
        for hit in np.flatnonzero((place < len(ordered)) & (ordered[inside] == needed)).tolist():
            chosen = hit | int(order[place[hit]]) << middle
            found.append(np.array([position for position in range(len(changes)) if chosen >> position & 1], np.int64))
    return found


def _subset_sums(numbers: UInt64Array) -> UInt64Array:
    """Return the sums of all subsets; bit i of a sum's position says whether number i is in it."""
    sums = np.zeros(1, np.uint64)
    for number in numbers:
        sums = np.concatenate([sums, sums + number])
    return sums


def pair_or_triple(changes: UInt64Array, difference: int) -> Int64Array | None:
    """Return the positions of the only two or three of some numbers that have this sum mod 2^64."""
    first, second = np.triu_indices(len(changes), 1)
    if not len(first):
        return None
    sums = changes[first] + changes[second]
    order = np.argsort(sums)
    ordered = sums[order]
    wanted = np.uint64(difference)
    # A pair that gives the difference, or does so with one more element.
    needed = np.concatenate([np.array([wanted], np.uint64), wanted - changes])
    places = np.minimum(np.searchsorted(ordered, needed), len(ordered) - 1)
    groups: set[tuple[int, ...]] = set()
    for hit in np.flatnonzero(ordered[places] == needed).tolist():
        pair = int(order[places[hit]])
        third = () if hit == 0 else (hit - 1,)
        group = tuple(sorted({int(first[pair]), int(second[pair]), *third}))
        if len(group) == 2 + len(third):
            groups.add(group)
    if len(groups) != 1:
        return None
    (group,) = groups
    return np.array(group, np.int64)

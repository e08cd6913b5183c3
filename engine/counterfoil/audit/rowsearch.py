"""Which rows a trainer may have read instead of the ordered ones, as far as a fingerprint tells. Pure.

A run holds no values of what a step read, but a fingerprint of each data array's batch: 64 bits, a sum of one term for
each element and its place. So a batch that is thought of can be tried: the right one gives the fingerprint, and one of
a million others does by chance with a probability of 2^-44. Tried is what is simple to do: one value or one row that is
another, rows that changed places, the rows of another step, and maps of small whole numbers, as labels are. What is
found is no proof against anybody: the dispute is proven without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.sentence import Sentence, say
from counterfoil_core.judge.explain import changed_alone, mixed
from counterfoil_core.order.admission import RowArray

MOST_TERMS = 1 << 26
"""So many terms of a fingerprint are computed at most for one kind of change: a few seconds."""
_BLOCK = 1 << 20
_MASK = 2**64 - 1
Rows = npt.NDArray[Any]
Sums = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class OtherRows:
    """A batch that gives the trainer's fingerprint."""

    said: Sentence  #: How it comes from the ordered one, as a sentence.
    batch: Rows  #: The batch, of the same shape and dtype.


@dataclass(frozen=True)
class Asked:
    """What is looked for."""

    ordered: Rows  #: ``[rows, ...]``: the ordered batch.
    numbers: npt.NDArray[np.int64]  #: int64 ``[rows]``: the numbers of its rows in the data.
    step: int  #: Its step, from 1.
    schedule: npt.NDArray[np.int64]  #: int64 ``[steps, rows]``: the rows of all steps.
    data: RowArray  #: All rows.
    key: int  #: The fingerprint key of the place.
    wanted: int  #: The trainer's fingerprint.
    cancel: CancelToken | None = None  #: Looked at now and then.

    @property
    def elements(self) -> int:
        """Elements of a row."""
        return int(np.prod(self.ordered.shape[1:], dtype=np.int64))

    def check(self) -> None:
        """Raise CancelledError if the token was cancelled."""
        if self.cancel is not None:
            self.cancel.check()

    def sums(self, rows: Rows, place: int) -> Sums:
        """Return what each of some rows, ``[n, ...]``, adds to the fingerprint at a place of the batch: ``[n]``."""
        indices = np.arange(place * self.elements, (place + 1) * self.elements, dtype=np.int64)
        return np.asarray(mixed(wide(rows).reshape(len(rows), -1), indices, self.key).sum(axis=1, dtype=np.uint64))


def wide(values: Rows) -> Rows:
    """Return values as they enter a fingerprint: float64 or int64, contiguous, every not-a-number the same."""
    if values.dtype.kind != "f":
        return np.ascontiguousarray(values, np.int64)
    found = np.array(values, np.float64, order="C")
    found[np.isnan(found)] = np.nan
    return found


def fingerprint_of(batch: Rows, key: int) -> int:
    """Return the fingerprint of a batch at a place with this key."""
    flat = wide(batch).reshape(-1)
    total = 0
    for start in range(0, len(flat), _BLOCK):
        block = flat[start : start + _BLOCK]
        total += int(mixed(block, np.arange(start, start + len(block)), key).sum(dtype=np.uint64))
    return total & _MASK


def find_other_rows(asked: Asked) -> OtherRows | None:
    """Return the first simple change of the ordered batch that gives the trainer's fingerprint; None where none does.

    Raises:
        CancelledError: The token was cancelled.
    """
    tried: tuple[Callable[[Asked], OtherRows | None], ...] = (
        _one_value, _mapped, _moved, _of_another_step, _one_row,
    )  # fmt: skip
    for try_it in tried:
        asked.check()
        if (found := try_it(asked)) is not None:
            return found
    return None


def _difference(asked: Asked) -> int:
    return (asked.wanted - fingerprint_of(asked.ordered, asked.key)) & _MASK


def _one_value(asked: Asked) -> OtherRows | None:
    alone = changed_alone(asked.ordered.reshape(-1), asked.key, _difference(asked))
    if alone is None:
        return None
    index, value = alone
    batch = asked.ordered.copy()
    old, batch.reshape(-1)[index] = batch.reshape(-1)[index].item(), value
    return OtherRows(_value_said(index // asked.elements, value, old), batch)


def _value_said(place: int, value: object, old: object) -> Sentence:
    return say("One value is another: in row {0} of the batch {1} stands for {2}.", place, value, old)


def _maps(most: int) -> Iterator[tuple[Sentence, Callable[[Rows], Rows]]]:
    """Changes of whole numbers from 0 to ``most``, each with what it does in words."""
    for constant in range(2 * most + 1):
        yield say("Every value x was read as {0} - x.", constant), lambda x, c=constant: c - x  # type: ignore[misc]
    for constant in range(1, most + 1):
        said = say("Every value x was read as x + {0}, modulo {1}.", constant, most + 1)
        yield said, lambda x, c=constant: (x + c) % (most + 1)  # type: ignore[misc]
    for constant in range(most + 1):
        yield say("Every value was read as {0}.", constant), lambda x, c=constant: x * 0 + c  # type: ignore[misc]


def _mapped(asked: Asked) -> OtherRows | None:
    """Small whole numbers, labels for instance, which were all changed in one way."""
    if asked.ordered.dtype.kind not in "iu" or not asked.ordered.size:
        return None
    values = asked.ordered.astype(np.int64)
    most = int(values.max())
    if int(values.min()) < 0 or 4 * (most + 1) * values.size > MOST_TERMS:
        return None
    # A batch need not hold the largest of all classes.
    for largest in dict.fromkeys((_largest(asked, most), most)):
        for said, change in _maps(largest):
            asked.check()
            other = change(values)
            if fingerprint_of(other, asked.key) == asked.wanted:
                return OtherRows(said, other.astype(asked.ordered.dtype))
    return None


def _largest(asked: Asked, most: int) -> int:
    """The largest value of the data, as far as it is looked at."""
    count = min(len(asked.data), max(1, _BLOCK // max(1, asked.elements)))
    values = asked.data[np.arange(count)]
    found = max(most, int(values.max(initial=most)))
    return found if 4 * (found + 1) * asked.ordered.size <= MOST_TERMS else most


def _moved(asked: Asked) -> OtherRows | None:
    """The ordered rows in another order: two changed places, all moved along, or all turned round."""
    count = len(asked.ordered)
    if count * asked.ordered.size > MOST_TERMS:
        return None
    sums = np.stack([asked.sums(asked.ordered, place) for place in range(count)])  # [place, row]
    own, difference = np.diagonal(sums), np.uint64(_difference(asked))
    swapped = sums + sums.T - own[:, None] - own[None, :]
    pairs = np.argwhere(np.triu(swapped == difference, 1))
    if len(pairs):
        first, second = map(int, pairs[0])
        order = np.arange(count)
        order[[first, second]] = second, first
        said = say("The rows {0} and {1} of the batch changed places.", first, second)
        return OtherRows(said, asked.ordered[order])
    places = np.arange(count)
    turned = [(say("The rows of the batch were read in reverse."), places[::-1])]
    turned += [
        (say("The rows of the batch were read moved along by {0}.", by), np.roll(places, by)) for by in range(1, count)
    ]
    for said, order in turned:
        if int(sums[places, order].sum(dtype=np.uint64)) == asked.wanted:
            return OtherRows(said, asked.ordered[order])
    return None


def _of_another_step(asked: Asked) -> OtherRows | None:
    if len(asked.schedule) * asked.ordered.size > MOST_TERMS:
        return None
    for number, rows in enumerate(asked.schedule, 1):
        asked.check()
        if number == asked.step:
            continue
        batch = asked.data[rows]
        if fingerprint_of(batch, asked.key) == asked.wanted:
            return OtherRows(say("The rows of step {0} were read.", number), batch)
    return None


def _one_row(asked: Asked) -> OtherRows | None:
    """One row of the batch that is another row of the data."""
    count, size = len(asked.data), max(1, asked.elements)
    if count * asked.ordered.size > MOST_TERMS:
        return None
    difference = np.uint64(_difference(asked))
    for start in range(0, count, max(1, _BLOCK // size)):
        block = asked.data[np.arange(start, min(count, start + max(1, _BLOCK // size)))]
        for place in range(len(asked.ordered)):
            asked.check()
            wanted = asked.sums(asked.ordered[place : place + 1], place) + difference
            fits = np.flatnonzero(asked.sums(block, place) == wanted)
            if len(fits):
                batch = asked.ordered.copy()
                batch[place] = block[fits[0]]
                if asked.elements == 1:  # of the same value there may be many rows
                    values = (rows.reshape(-1)[place].item() for rows in (batch, asked.ordered))
                    return OtherRows(_value_said(place, *values), batch)
                said = say(
                    "Row {0} of the batch is row {1} of the data, where row {2} was ordered.",
                    place,
                    start + int(fits[0]),
                    int(asked.numbers[place]),
                )
                return OtherRows(said, batch)
    return None

"""The rows that a step was ordered to read, and those that its trainer read instead, as far as a fingerprint tells.

A run stores no values of what its steps read. The ordered rows are the client's; what was read instead is found where
it is a simple change of these (:mod:`counterfoil.audit.disputedrows`), and said not to be known otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from counterfoil.audit.signedrun import SignedRun
from counterfoil.audit.values.closelook import DisputedRows, LookProgress, RowKind, RowsRead
from counterfoil.training.orderfile import load_order
from counterfoil_core.arithmetic.grid.fingerprints import place_key, step_key
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.generators import relay
from counterfoil_core.base.sentence import Sentence, say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.judge.explain import changed_alone, mix
from counterfoil_core.order.admission import RowArray, share_rows
from counterfoil_core.order.executable import with_data_file
from counterfoil_core.program.places import PlaceSort
from counterfoil_core.values.dispute import share_of

# Which rows a trainer may have read instead of the ordered ones, as far as a fingerprint tells. Pure. A run holds no
# values of what a step read, but a fingerprint of each data array's batch: 64 bits, a sum of one term for each element
# and its place. So a batch that is thought of can be tried: the right one gives the fingerprint, and one of a million
# others does by chance with a probability of 2^-44. Tried is what is simple to do: one value or one row that is
# another, rows that changed places, the rows of another step, and maps of small whole numbers, as labels are. What is
# found is no proof against anybody: the dispute is proven without it.

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
        return np.asarray(mix(wide(rows).reshape(len(rows), -1), indices, self.key).sum(axis=1, dtype=np.uint64))


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
        total += int(mix(block, np.arange(start, start + len(block)), key).sum(dtype=np.uint64))
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


MOST_ROWS = 64
"""Rows of a batch that are shown at most."""
MOST_ELEMENTS = 256 * 256 * 3
"""Elements of a row that are shown at most."""
LEAST_SIDE = 4
"""Pixels of the shorter side of what is taken for an image."""
CHANNELS = (1, 3, 4)
_PRINTABLE = 0.9
"""The share of bytes that are printable characters from which on they are taken for text."""
_FEWEST_CHARACTERS = 4
_TRIED = say("Looking for the rows that were read")


def find_disputed_rows(
    run: str | os.PathLike[str],
    step: int,
    part: str = "",
    *,
    data: str | os.PathLike[str] | None = None,
    cancel: CancelToken | None = None,
) -> Generator[LookProgress, None, DisputedRows]:
    """Show the rows of a step, ordered and read; yields how far it is.

    Args:
        run: The run.
        step: The step, from 1.
        part: The share that read them, where shares make the step; as :attr:`Dispute.part`.
        data: The data file, for an order that keeps data outside.
        cancel: Looked at now and then.

    Raises:
        DataError: The run has no such step, or the part reads no rows.
        RefusedError: The run is damaged, or not what its trainer signed.
        GivenFileError: The data file is missing, or another one.
        CancelledError: The token was cancelled.
    """
    with obstacles_noticed(), ExitStack() as stack:
        opened = SignedRun.opened(stack.enter_context(BundleReader.open(run)), cancel)
        signed = yield from relay(opened, lambda report: LookProgress(*report))
        share = share_of(part)
        if not 1 <= step <= signed.reader.extent.steps or (signed.manifest.shares is not None and share is None):
            raise DataError(say("There are no rows to be shown: this part of the step reads none."))
        yield LookProgress(say("Reading the data"), 0, 1)
        job = with_data_file(load_order(signed.reader), data, stack, cancel)
        rows = slice(None) if share is None else share_rows(signed.manifest, share)
        numbers = job.schedule[step - 1, rows]
        trainer, key = signed.printed(step, part), step_key(signed.manifest.digest, step)
        program = job.programs.of(step)
        found: dict[str, tuple[Array, bool, OtherRows | None]] = {}
        batches = [place for place in enumerate(program.places) if place[1].sort is PlaceSort.BATCH]
        for done, (number, place) in enumerate(batches):
            yield LookProgress(_TRIED, done, len(batches))
            source = job.data_array(place.name)
            ordered, keyed = np.asarray(source[numbers]), place_key(key, number)
            wanted = int(trainer[number])
            same = fingerprint_of(ordered, keyed) == wanted
            asked = Asked(ordered, numbers, step, job.schedule[:, rows], source, keyed, wanted, cancel)
            found[place.name] = ordered, same, None if same else find_other_rows(asked)
        yield LookProgress(_TRIED, len(batches), len(batches))
        return _shown(step, numbers, found)


def _shown(
    step: int, numbers: npt.NDArray[np.int64], found: dict[str, tuple[Array, bool, OtherRows | None]]
) -> DisputedRows:
    differs = np.zeros(len(numbers), np.bool_)
    for ordered, _, other in found.values():
        if other is not None:
            differs |= (ordered != other.batch).reshape(len(numbers), -1).any(axis=1)
    places = np.argsort(~differs, kind="stable")[:MOST_ROWS]
    arrays = tuple(_rows_read(name, places, *each) for name, each in found.items())
    return DisputedRows(step, len(numbers), tuple(places.tolist()), tuple(numbers[places].tolist()), arrays)


def _rows_read(
    name: str, places: npt.NDArray[np.int64], ordered: Array, same: bool, other: OtherRows | None
) -> RowsRead:
    kind = kind_of(ordered)
    said = "" if same else other.said if other is not None else NOT_KNOWN
    read = ordered if same else None if other is None else other.batch
    texts = kind is RowKind.TEXT
    return RowsRead(
        name=name,
        kind=kind,
        shape=tuple(ordered.shape[1:]),
        same=same,
        said=said,
        ordered=_flat(ordered[places]),
        read=np.zeros((0, 0)) if read is None else _flat(read[places]),
        texts=_texts(ordered[places]) if texts else (),
        texts_read=_texts(read[places]) if texts and read is not None else (),
    )


NOT_KNOWN = say(
    "Other rows were read than were ordered: their fingerprint is another. What was read cannot be shown. The run holds"
    " a fingerprint of it and no values, and no simple change of the ordered rows gives that fingerprint."
)


def kind_of(batch: Array) -> RowKind:
    """Return how rows, ``[rows, ...]``, are best shown: by their shape and their values. Pure."""
    shape, integers = batch.shape[1:], batch.dtype.kind in "iu"
    sides = shape
    if len(shape) == 3:
        sides = shape[1:] if shape[0] in CHANNELS else shape[:2] if shape[2] in CHANNELS else ()
    if len(sides) == 2 and min(sides) >= LEAST_SIDE and int(np.prod(shape)) <= MOST_ELEMENTS:
        return RowKind.IMAGE
    if integers and len(shape) == 1 and shape[0] > 1:
        size = batch.size
        printable = int(np.count_nonzero((batch >= 32) & (batch < 127) | np.isin(batch, (9, 10, 13))))
        whole = size and int(batch.min()) >= 0 and int(batch.max()) < 256
        if whole and shape[0] >= _FEWEST_CHARACTERS and printable >= _PRINTABLE * size:
            return RowKind.TEXT
        return RowKind.TOKENS
    return RowKind.NUMBERS


def _flat(rows: Array) -> npt.NDArray[np.float64]:
    flat = rows.reshape(len(rows), -1)[:, :MOST_ELEMENTS]
    return np.ascontiguousarray(flat, np.float64)


def _texts(rows: Array) -> tuple[str, ...]:
    return tuple(bytes(row[:MOST_ELEMENTS].astype(np.uint8)).decode("utf-8", "replace") for row in rows)

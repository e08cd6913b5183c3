"""The rows that a step was ordered to read, and those that its trainer read instead, as far as a fingerprint tells.

A run stores no values of what its steps read. The ordered rows are the client's; what was read instead is found where
it is a simple change of these (:mod:`counterfoil.audit.rowsearch`), and said not to be known otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import ExitStack

import numpy as np
import numpy.typing as npt

from counterfoil.audit.rowsearch import Asked, OtherRows, find_other_rows, fingerprint_of
from counterfoil.audit.signedrun import SignedRun
from counterfoil.audit.values.closelook import DisputedRows, LookProgress, RowKind, RowsRead
from counterfoil.training.orderfile import load_order
from counterfoil_core.arithmetic.grid.fingerprints import place_key, step_key
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.generators import relay
from counterfoil_core.base.sentence import say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.order.admission import share_rows
from counterfoil_core.order.executable import with_data_file
from counterfoil_core.program.places import PlaceSort
from counterfoil_core.values.dispute import share_of

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

"""The rows of a client's data: arrays, tensors, a Dataset or a DataLoader, read once and held as arrays of the order.

Of a Dataset the rows that some step reads are read, each once: what it draws at random, such as an augmentation, is
drawn then, for all epochs. Whoever wants it drawn anew keeps batches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, TensorDataset, default_collate

from counterfoil.base.foreignerrors import describe_error, theirs
from counterfoil.program.whereabouts import in_brackets, where_raised
from counterfoil.training.batches import Batches, check_whole, row_numbers, steps_of
from counterfoil.training.forms import Forms, schedule_of_parts
from counterfoil.training.leaves import ITEM, is_bool, leaves, numbers_of, truth
from counterfoil.training.stages import Preparing
from counterfoil.training.tables import Kind, Table
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import DataError

_PROGRESS_SECONDS = 0.1
Schedule = npt.NDArray[np.int64]
"""Which rows each step reads, int64 ``[steps, batch_size]``."""


Keep = Literal["rows", "batches"]
"""What an order keeps of a Dataset: each row once, or every batch as it is drawn."""
_ONE_EACH = Batches()
_TRIED = 4
"""Rows that are read twice, to see whether they are drawn at random."""
Choose = Callable[[int], Schedule]
"""Says which of so many rows each step reads."""


@dataclass(frozen=True)
class Rows:
    """A client's data, read."""

    arrays: Mapping[str, Array]  #: The data arrays by name.
    #: Gives a batch the form that the objective expects, from its rows by name.
    batch: Callable[[Mapping[str, Tensor]], Any]
    #: int64 ``[steps, batch_size]``, the rows of each step, numbered as in the arrays; None where the job is still to
    #: say.
    schedule: Schedule | None = None
    forms: Forms | None = None  #: The shapes of batches; None where all are as long as the arrays' rows, and as many.
    #: The numbers that the arrays' rows have in the client's Dataset; None of other data, and where rows differ in
    #: shape.
    numbers: npt.NDArray[np.int64] | None = None


def read_rows(
    data: Any,
    steps: int,
    choose: Choose,
    keep: Keep | None = None,
    cancel: CancelToken | None = None,
    *,
    batches: Batches = _ONE_EACH,
) -> Generator[Preparing, None, Rows]:
    """Read a client's data: arrays and tensors whole, of a Dataset the rows that some step reads.

    Args:
        data: Arrays or tensors by name, a single one, a Dataset with a length or a list of rows, or a DataLoader.
        steps: Number of steps, for what a DataLoader gives.
        choose: Says which rows of a Dataset each step reads.
        keep: ``rows``, each once, or ``batches`` as they are drawn; None is rows, unless they are drawn at random.
        cancel: Looked at between rows.
        batches: How the batches of a DataLoader become those of steps.

    Yields:
        How far it is.

    Raises:
        DataError: It is of another kind, holds what an order cannot, the rows of a batch differ in shape, or nobody
            said what is to be kept of a Dataset that draws at random.
        CancelledError: ``cancel`` was set.
    """
    if keep not in (None, "rows", "batches"):
        raise DataError(f"The job's keep is {keep!r}.", remedy="Say 'rows' or 'batches'.")
    if isinstance(data, Mapping):
        arrays = {str(name): numbers_of(item, str(name)) for name, item in data.items()}
        bools = {str(name) for name, item in data.items() if is_bool(item)}
        return Rows(arrays, lambda rows: {name: truth(rows[name], name in bools) for name in rows})
    if isinstance(data, (Tensor, np.ndarray)):
        return Rows({ITEM: numbers_of(data, ITEM)}, lambda rows: truth(rows[ITEM], is_bool(data)))
    if isinstance(data, DataLoader):
        return (yield from _read_loader(data, steps, keep, batches, cancel))
    return (yield from _read_drawn(data, [[rows] for rows in choose(_length(data))], keep, cancel))


def _read_loader(
    loader: DataLoader[Any], steps: int, keep: Keep | None, batches: Batches, cancel: CancelToken | None
) -> Generator[Preparing, None, Rows]:
    if isinstance(loader.dataset, IterableDataset):
        _length(loader.dataset)
    check_whole(loader)
    if keep != "batches" and loader.batch_sampler is not None and loader.collate_fn is default_collate:
        # Rows are drawn as in a loop over the loader itself, from the same generator.
        drawn = row_numbers(loader, _length(loader.dataset))
        parts = [[np.array(batch, np.int64) for batch in step] for step in steps_of(drawn, steps, batches)]
        return (yield from _read_drawn(loader.dataset, parts, keep, cancel))
    # What another collation makes of rows is known of batches alone: each batch is kept as it comes.
    table, sizes = Table(steps * batches.accumulate, batched=True), []

    def read() -> Iterator[Any]:
        for step in steps_of(loader, steps, batches):
            sizes.append(len(step))
            yield from step

    yield from _read(table, read(), steps * batches.accumulate, cancel)
    count = [1 if table.whole else next(iter(table.kinds[kind].values()))[0] for kind in table.kind_of]
    rows = _split(np.arange(sum(count)), count)
    steps_kinds = _grouped(table.kind_of, sizes)
    forms = _forms(table.kinds, steps_kinds, max(count), whole=table.whole)
    return Rows(table.arrays, table.batch, schedule_of_parts(rows, steps_kinds), forms)


def _read_drawn(
    data: Any, steps: Sequence[Sequence[npt.NDArray[np.int64]]], keep: Keep | None, cancel: CancelToken | None
) -> Generator[Preparing, None, Rows]:
    """Read the rows of a Dataset that the parts of steps name, and number them anew, in its order or in the steps'."""
    flat = np.concatenate([part for step in steps for part in step])
    sizes = [len(part) for step in steps for part in step]
    _check_there(flat, _length(data))
    drawn, places = np.unique(flat, return_inverse=True)
    if keep is None and len(drawn) < len(flat) and type(data) is not TensorDataset:
        _check_same_again(data, drawn[:_TRIED])
    if keep == "batches":
        drawn, places = flat, np.arange(len(flat))
    schedule = schedule_of_parts(_split(places.reshape(-1).astype(np.int64), sizes), steps)
    if type(data) is TensorDataset:
        names = [f"{ITEM}.{number}" for number in range(len(data.tensors))]
        arrays = {name: numbers_of(tensor[drawn], name) for name, tensor in zip(names, data.tensors, strict=True)}
        bools = {name for name, tensor in zip(names, data.tensors, strict=True) if is_bool(tensor)}
        forms = _forms_of_rows([{n: array.shape[1:] for n, array in arrays.items()}], [0] * len(sizes), sizes, steps)
        return Rows(arrays, lambda rows: [truth(rows[name], name in bools) for name in names], schedule, forms, drawn)
    table = Table(len(drawn))
    yield from _read(table, (_row(data, int(number)) for number in drawn), len(drawn), cancel)
    kinds = _kinds_of_parts(table, _split(places.reshape(-1), sizes), drawn)
    known = drawn if len(table.kinds) == 1 else None
    return Rows(table.arrays, table.batch, schedule, _forms_of_rows(table.kinds, kinds, sizes, steps), known)


def _check_there(rows: npt.NDArray[np.int64], length: int) -> None:
    wrong = rows[(rows < 0) | (rows >= length)]
    if len(wrong):
        raise DataError(
            f"The job's schedule names row {wrong[0]}; its data has {length} rows.", remedy="Count rows from 0."
        )


def _split(flat: npt.NDArray[np.int64], sizes: Sequence[int]) -> list[npt.NDArray[np.int64]]:
    return np.split(flat, np.cumsum(sizes[:-1]))


def _grouped(kinds: Sequence[int], sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """The kinds of each step's parts, from those of all parts and how many each step has."""
    following = iter(kinds)
    return [tuple(next(following) for _ in range(size)) for size in sizes]


def _kinds_of_parts(table: Table, parts: Sequence[npt.NDArray[np.int64]], drawn: npt.NDArray[np.int64]) -> list[int]:
    """The kind that the rows of each part have, all the same; raises DataError as torch's default collation would."""
    if len(table.kinds) == 1:
        return [0] * len(parts)
    found = np.array(table.kind_of)
    for part in parts:
        other = next((row for row in part if found[row] != found[part[0]]), None)
        if other is not None:
            one, two = table.kinds[found[part[0]]], table.kinds[found[other]]
            name = next(name for name in one if one[name] != two[name])
            raise DataError(
                f"Rows {drawn[part[0]]} and {drawn[other]} of the job's data are in one batch, and {name!r} has the "
                f"shapes {one[name]} and {two[name]} in them.",
                remedy="Bring all rows to one shape, for instance by padding, or give a DataLoader whose collate_fn "
                "pads the rows of a batch.",
            )
    return [int(found[part[0]]) for part in parts]


def _forms_of_rows(
    kinds: Sequence[Kind], kind_of: Sequence[int], sizes: Sequence[int], steps: Sequence[Sequence[object]]
) -> Forms | None:
    """The forms of parts that have so many rows of a kind each."""
    found: dict[tuple[int, int], int] = {}
    numbered = [found.setdefault(pair, len(found)) for pair in zip(sizes, kind_of, strict=True)]
    made = [{name: (size, *shape) for name, shape in kinds[kind].items()} for size, kind in found]
    return _forms(made, _grouped(numbered, [len(step) for step in steps]), max(sizes))


def _forms(kinds: Sequence[Kind], steps: Sequence[tuple[int, ...]], rows: int, *, whole: bool = False) -> Forms | None:
    """The forms of batches; None where there is but one, which a program reads as it is."""
    if not whole and len(kinds) == 1 and len(set(map(len, steps))) == 1:
        return None
    return Forms(tuple(kinds), tuple(steps), rows, whole)


def _check_same_again(data: Any, chosen: npt.NDArray[np.int64]) -> None:
    """Check that a Dataset gives the same rows when it is asked again; raises DataError."""
    for number in map(int, chosen):
        one, other = (dict(leaves(_row(data, number), "")) for _ in range(2))
        for name, leaf in one.items():
            if name in other and numbers_of(leaf, name).tobytes() != numbers_of(other[name], name).tobytes():
                raise DataError(
                    f"Row {number} of the job's data has another {name!r} each time it is read, as an augmentation "
                    "draws it, and the job reads rows several times.",
                    remedy="Say keep='batches' to have every batch drawn and stored as your loop would see it, or "
                    "keep='rows' to have each row drawn once, for all epochs.",
                )


def _length(data: Any) -> int:
    kind = f"{type(data).__module__}.{type(data).__qualname__}"
    if isinstance(data, (type, str, bytes)):
        raise DataError(f"The job's data is {data!r}.", remedy=_ANY)
    if isinstance(data, IterableDataset) or not (hasattr(data, "__getitem__") and hasattr(data, "__len__")):
        if isinstance(data, IterableDataset) or hasattr(data, "__iter__"):
            raise DataError(
                f"The job's data ({kind}) can only be read from its beginning on, and an order names rows by number.",
                remedy="Read as many rows as the training needs into a list: list(itertools.islice(data, 10_000)).",
            )
        raise DataError(f"The job's data is of the type {kind}.", remedy=_ANY)
    try:
        length = len(data)
    except BaseException as error:
        theirs(error)
        raise DataError(
            f"The job's data ({kind}) has no length: {describe_error(error)}.", remedy="Give it one (__len__)."
        ) from error
    if not length:
        raise DataError(f"The job's data ({kind}) has no rows.")
    return length


_ANY = (
    "Give arrays or tensors by name, for instance data={'images': ...}, a Dataset with a length, a list of rows, or a "
    "DataLoader."
)


def _row(data: Any, number: int) -> Any:
    try:
        return data[number]
    except BaseException as error:
        theirs(error)
        raise DataError(
            f"Row {number} of the job's data cannot be read: {describe_error(error)}"
            f"{in_brackets(where_raised(error))}.",
            remedy="Correct the Dataset; it is read row by row when the order is written.",
        ) from error


def _read(
    table: Table, items: Iterator[Any], total: int, cancel: CancelToken | None
) -> Generator[Preparing, None, None]:
    shown = time.monotonic()
    for number, item in enumerate(items):
        if cancel is not None:
            cancel.check()
        table.put(item)
        if time.monotonic() - shown >= _PROGRESS_SECONDS:
            shown = time.monotonic()
            yield Preparing("Data", "rows", number + 1, total)

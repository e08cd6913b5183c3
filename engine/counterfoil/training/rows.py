"""The rows of a client's data: arrays, tensors, a Dataset or a DataLoader, read once and held as arrays of the order.

Of a Dataset the rows that some step reads are read, each once: what it draws at random, such as an augmentation, is
drawn then, for all epochs. Whoever wants it drawn anew keeps batches. The batches that a step sees have the form in
which torch's default collation would give them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, TensorDataset, default_collate
from torch.utils.data.distributed import DistributedSampler

from counterfoil.base.arrays import Array
from counterfoil.base.cancel import CancelToken
from counterfoil.base.dtypes import DATA_DTYPES
from counterfoil.base.errors import DataError
from counterfoil.base.raised import theirs, told
from counterfoil.program.whereabouts import in_brackets, where_raised
from counterfoil.training.preparing import Preparing

ITEM = "item"
"""Name of a data array whose rows have none; of several, ``item.0`` and so on."""
_PROGRESS_SECONDS = 0.1
_WIDER: Mapping[torch.dtype, torch.dtype] = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.int8: torch.int32,
    torch.int16: torch.int32,
    torch.bool: torch.uint8,
}
"""Dtypes that an order does not hold, and those that hold the same values."""
_SAME_ROWS = "Bring all rows to one shape"
_SAME_BATCHES = "Say drop_last=True, and bring all batches to one shape"
_FORMS = "Return tensors, numpy arrays or numbers, or dicts and tuples of these"


Schedule = npt.NDArray[np.int64]
"""Which rows each step reads, int64 ``[steps, batch_size]``."""


@dataclass(frozen=True)
class Batches:
    """How the batches of a DataLoader become those of steps.

    Attributes:
        accumulate: Batches of a step, whose gradients are accumulated.
        drop: Whether what is left at the end of an epoch is dropped: a shorter batch, and batches that make no step.
    """

    accumulate: int = 1
    drop: bool = False


Keep = Literal["rows", "batches"]
"""What an order keeps of a Dataset: each row once, or every batch as it is drawn."""
_ONE_EACH = Batches()
_TRIED = 4
"""Rows that are read twice, to see whether they are drawn at random."""
Choose = Callable[[int], Schedule]
"""Says which of so many rows each step reads."""


@dataclass(frozen=True)
class Rows:
    """A client's data, read.

    Attributes:
        arrays: The data arrays by name.
        batch: Gives a batch the form that the objective expects, from its rows by name.
        schedule: int64 ``[steps, batch_size]``, the rows of each step, numbered as in the arrays; None where the job
            is still to say.
    """

    arrays: Mapping[str, Array]
    batch: Callable[[Mapping[str, Tensor]], Any]
    schedule: Schedule | None = None


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
        DataError: It is of another kind, holds what an order cannot, its rows differ in shape, or nobody said what is
            to be kept of a Dataset that draws at random.
        CancelledError: ``cancel`` was set.
    """
    if keep not in (None, "rows", "batches"):
        raise DataError(f"The job's keep is {keep!r}.", remedy="Say 'rows' or 'batches'.")
    if isinstance(data, Mapping):
        arrays = {str(name): numbers_of(item, str(name)) for name, item in data.items()}
        bools = {str(name) for name, item in data.items() if _is_bool(item)}
        return Rows(arrays, lambda rows: {name: _truth(rows[name], name in bools) for name in rows})
    if isinstance(data, (Tensor, np.ndarray)):
        return Rows({ITEM: numbers_of(data, ITEM)}, lambda rows: _truth(rows[ITEM], _is_bool(data)))
    if isinstance(data, DataLoader):
        return (yield from _read_loader(data, steps, keep, batches, cancel))
    return (yield from _read_drawn(data, choose(_length(data)), keep, cancel))


def _read_drawn(
    data: Any, schedule: Schedule, keep: Keep | None, cancel: CancelToken | None
) -> Generator[Preparing, None, Rows]:
    """Read the rows of a Dataset that a schedule names, and number them anew: in the Dataset's order, or the steps'."""
    length = _length(data)
    if schedule.min() < 0 or schedule.max() >= length:
        raise DataError(
            f"The job's schedule names row {schedule.max() if schedule.min() >= 0 else schedule.min()}; its data has "
            f"{length} rows.",
            remedy="Count rows from 0.",
        )
    drawn, places = np.unique(schedule, return_inverse=True)
    if keep is None and len(drawn) < schedule.size and type(data) is not TensorDataset:
        _check_same_again(data, drawn[:_TRIED])
    if keep == "batches":
        drawn, places = schedule.reshape(-1), np.arange(schedule.size)
    numbered = places.reshape(schedule.shape).astype(np.int64)
    if type(data) is TensorDataset:
        names = [f"{ITEM}.{number}" for number in range(len(data.tensors))]
        arrays = {name: numbers_of(tensor[drawn], name) for name, tensor in zip(names, data.tensors, strict=True)}
        bools = {name for name, tensor in zip(names, data.tensors, strict=True) if _is_bool(tensor)}
        return Rows(arrays, lambda rows: [_truth(rows[name], name in bools) for name in names], numbered)
    table = _Table(len(drawn))
    yield from _read(table, (_row(data, int(number)) for number in drawn), table.length, cancel)
    return Rows(table.arrays, table.batch, numbered)


def _check_same_again(data: Any, numbers: npt.NDArray[np.int64]) -> None:
    """Check that a Dataset gives the same rows when it is asked again; raises DataError."""
    for number in map(int, numbers):
        one, other = (dict(_leaves(_row(data, number), "")) for _ in range(2))
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
            f"The job's data ({kind}) has no length: {told(error)}.", remedy="Give it one (__len__)."
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
            f"Row {number} of the job's data cannot be read: {told(error)}{in_brackets(where_raised(error))}.",
            remedy="Correct the Dataset; it is read row by row when the order is written.",
        ) from error


def _read(
    table: _Table, items: Iterator[Any], total: int, cancel: CancelToken | None
) -> Generator[Preparing, None, None]:
    shown = time.monotonic()
    for number, item in enumerate(items):
        if cancel is not None:
            cancel.check()
        table.put(number, item)
        if time.monotonic() - shown >= _PROGRESS_SECONDS:
            shown = time.monotonic()
            yield Preparing("Data", "rows", number + 1, total)


# Leaves.


def _is_bool(item: Any) -> bool:
    return getattr(item, "dtype", type(item)) in (torch.bool, np.dtype(bool), bool)


def _truth(rows: Tensor, is_bool: bool) -> Tensor:
    return rows != 0 if is_bool else rows


def numbers_of(item: Any, name: str) -> Array:
    """A tensor, array or number as an array that an order can hold."""
    try:
        if isinstance(item, Tensor):
            tensor = item.detach().cpu()
            return _contiguous(tensor.to(_WIDER.get(tensor.dtype, tensor.dtype)).numpy())
        array = np.asarray(item)
        if isinstance(item, (float, list)) and array.dtype == np.float64:
            # A number of Python's has no dtype of its own.
            return array.astype(np.float32)
        wider = {"float16": "float32", "int8": "int32", "int16": "int32", "bool": "uint8"}
        if array.dtype.kind not in "OUS":
            return _contiguous(array.astype(wider.get(array.dtype.name, array.dtype.name), copy=False))
    except (TypeError, ValueError, RuntimeError) as error:
        raise _unusable(item, name) from error
    raise _unusable(item, name)


def _contiguous(array: Array) -> Array:
    return np.ascontiguousarray(array) if array.ndim else array


def check_dtype(name: str, array: Array) -> None:
    """Check that an order can hold a data array of its dtype; raises DataError."""
    if array.dtype.name not in DATA_DTYPES:
        raise DataError(
            f"The data array {name!r} is {array.dtype.name}; an order holds {', '.join(DATA_DTYPES)}.",
            remedy="Convert it, for instance with array.astype('float32') or tensor.float().",
        )


def _unusable(item: Any, name: str) -> DataError:
    remedy = f"{_FORMS}: leave text out, or turn it into numbers; images become tensors by a transform."
    return DataError(f"{name!r} in the job's data is of the type {type(item).__name__}.", remedy=remedy)


def _is_number_list(item: Any) -> bool:
    return isinstance(item, list) and all(
        isinstance(part, (bool, int, float, np.generic)) or _is_number_list(part) for part in item
    )


# Structures.


def _leaves(item: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The tensors, arrays and numbers of a row by name, in the order of its structure."""
    if isinstance(item, Mapping):
        for key in item:
            yield from _leaves(item[key], f"{name}.{key}" if name else str(key))
    elif isinstance(item, (Tensor, np.ndarray, np.generic, bool, int, float)) or _is_number_list(item):
        yield name or ITEM, item
    elif isinstance(item, Sequence) and not isinstance(item, (str, bytes)):
        fields = getattr(item, "_fields", range(len(item)))
        for key, part in zip(fields, item, strict=True):
            yield from _leaves(part, f"{name or ITEM}.{key}")
    else:
        raise _unusable(item, name or ITEM)


def _structure(item: Any, leaves: Iterator[tuple[str, bool]]) -> Callable[[Mapping[str, Tensor]], Any]:
    """What puts the rows of a batch into the structure of an item, from names and whether they hold truth values."""
    if isinstance(item, Mapping):
        parts = {key: _structure(item[key], leaves) for key in item}
        return lambda rows: {key: part(rows) for key, part in parts.items()}
    if isinstance(item, (list, tuple)) and not _is_number_list(item):
        listed = [_structure(part, leaves) for part in item]
        if hasattr(item, "_fields"):
            return lambda rows: type(item)(*(part(rows) for part in listed))
        return lambda rows: [part(rows) for part in listed]
    name, is_bool = next(leaves)
    return lambda rows: _truth(rows[name], is_bool)


class _Table:
    """Arrays that are filled row by row, or batch by batch, of the form that the first one has."""

    def __init__(self, length: int, *, batched: bool = False) -> None:
        self.length = length
        self.arrays: dict[str, Array] = {}
        self.batch: Callable[[Mapping[str, Tensor]], Any] = dict
        self.batch_size = 1
        self._batched = batched

    def put(self, number: int, item: Any) -> None:
        """Take a row, or a batch.

        Raises:
            DataError: It is of another form than the first, or holds what an order cannot.
        """
        leaves = dict(_leaves(item, ""))
        found = {name: numbers_of(leaf, name) for name, leaf in leaves.items()}
        if not self.arrays:
            self._begin(item, leaves, found)
        what = "Batch" if self._batched else "Row"
        for name, array in self.arrays.items():
            given = found.pop(name, None)
            shape = array.shape[1:] if not self._batched else (self.batch_size, *array.shape[1:])
            if given is None or (given.shape, given.dtype) != (shape, array.dtype):
                has = "does not have" if given is None else f"has {given.dtype} of shape {given.shape} for"
                raise DataError(
                    f"{what} {number} of the job's data {has} {name!r}; {what.lower()} 0 has {array.dtype} of shape "
                    f"{shape}.",
                    remedy=f"{_SAME_BATCHES if self._batched else _SAME_ROWS}, for instance by padding to one length.",
                )
            array[number * self.batch_size : (number + 1) * self.batch_size] = given
        for name in found:
            raise DataError(f"{what} {number} of the job's data has {name!r}; {what.lower()} 0 does not.")

    def _begin(self, item: Any, leaves: Mapping[str, Any], found: Mapping[str, Array]) -> None:
        if self._batched:
            first = next(iter(found.values()), None)
            self.batch_size = len(first) if first is not None and first.ndim else 0
            for name, array in found.items():
                if not self.batch_size or not array.ndim or len(array) != self.batch_size:
                    raise DataError(
                        f"{name!r} in the batches of the job's DataLoader has the shape {array.shape}; the first axis "
                        "of everything in a batch must be the row.",
                        remedy="What is the same in every step need not come with the batch: let the objective refer "
                        "to it.",
                    )
        for name, array in found.items():
            check_dtype(name, array)
            shape = array.shape[1:] if self._batched else array.shape
            self.arrays[name] = np.empty((self.length * self.batch_size, *shape), array.dtype)
        bools = ((name, _is_bool(leaf) or _is_bool_list(leaf)) for name, leaf in leaves.items())
        self.batch = _structure(item, bools)


def _is_bool_list(item: Any) -> bool:
    return isinstance(item, list) and bool(item) and (_is_bool(item[0]) or _is_bool_list(item[0]))


# Loaders.


class _Numbers(torch.utils.data.Dataset[int]):
    """The row numbers of a dataset."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, number: int) -> int:
        return int(number)


def _read_loader(
    loader: DataLoader[Any], steps: int, keep: Keep | None, batches: Batches, cancel: CancelToken | None
) -> Generator[Preparing, None, Rows]:
    if isinstance(loader.dataset, IterableDataset):
        _length(loader.dataset)
    _check_whole(loader)
    if keep != "batches" and loader.batch_sampler is not None and loader.collate_fn is default_collate:
        numbers = _Numbers(_length(loader.dataset))
        # Rows are drawn as in a loop over the loader itself, from the same generator.
        drawn = DataLoader(numbers, batch_sampler=loader.batch_sampler, generator=loader.generator, collate_fn=list)
        schedule = np.array(list(_as_long(_batches(drawn, steps, batches))), np.int64).reshape(steps, -1)
        return (yield from _read_drawn(loader.dataset, schedule, keep, cancel))
    # What another collation makes of rows is known of batches alone: each batch is kept as it comes.
    count = steps * batches.accumulate
    table = _Table(count, batched=True)
    yield from _read(table, _batches(loader, steps, batches), count, cancel)
    return Rows(table.arrays, table.batch, np.arange(count * table.batch_size).reshape(steps, -1))


def _check_whole(loader: DataLoader[Any]) -> None:
    """Check that a loader gives all rows, and not those of one process of several; raises DataError."""
    for sampler in (loader.sampler, getattr(loader.batch_sampler, "sampler", None)):
        if isinstance(sampler, DistributedSampler) and sampler.num_replicas > 1:
            raise DataError(
                f"The job's DataLoader gives the rows of one process of {sampler.num_replicas} (DistributedSampler); "
                "an order names the rows of the whole step.",
                remedy="Give it a plain sampler, and the batch size of all processes together; micro_batches "
                "accumulates gradients where that is too large.",
            )


def _batches(loader: DataLoader[Any], steps: int, wanted: Batches) -> Iterator[Any]:
    """The batches of so many steps, epoch after epoch."""
    left = steps
    while left:
        before = left
        for step in _steps_of_epoch(loader, steps - left, wanted):
            yield from step
            left -= 1
            if not left:
                return
        if left == before:
            raise DataError("The job's DataLoader gives no batches.", remedy="Give it rows enough for a batch.")


def _steps_of_epoch(loader: DataLoader[Any], done: int, wanted: Batches) -> Iterator[list[Any]]:
    """The batches of each step of an epoch; what is left over at its end is dropped, or an error."""
    step: list[Any] = []
    first = 0
    try:
        for batch in loader:
            first = first or _rows_in(batch)
            if wanted.drop and _rows_in(batch) < first:
                break
            step.append(batch)
            if len(step) == wanted.accumulate:
                yield step
                done, step = done + 1, []
    except DataError:
        raise
    except BaseException as error:
        theirs(error)
        raise DataError(
            f"Batch {done * wanted.accumulate + len(step)} of the job's DataLoader cannot be read: {told(error)}"
            f"{in_brackets(where_raised(error))}.",
            remedy="Correct the Dataset, the sampler or collate_fn; they are called when the order is written.",
        ) from error
    if step and not wanted.drop:
        raise DataError(
            f"An epoch of the job's DataLoader ends with {len(step)} of the {wanted.accumulate} batches of a step.",
            remedy="Say last='drop' to leave them out, or choose a number of batches that divides those of an epoch.",
        )


def _rows_in(batch: Any) -> int:
    """How many rows a batch has, by whatever it holds first; 0 where that cannot be told."""
    _, leaf = next(_leaves(batch, ""), ("", None))
    return len(leaf) if isinstance(leaf, Sized) and getattr(leaf, "shape", (1,)) != () else 0


def _as_long(batches: Iterator[list[int]]) -> Iterator[list[int]]:
    first = 0
    for number, batch in enumerate(batches):
        first = first or len(batch)
        if len(batch) != first:
            raise DataError(
                f"Batch {number} of the job's DataLoader has {len(batch)} rows, batch 0 has {first}.",
                remedy="Say drop_last=True, or choose a batch size that divides the number of rows.",
            )
        yield batch

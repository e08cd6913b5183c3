"""The leaves of a row or a batch: the tensors, arrays and numbers in dicts and tuples, as arrays of an order.

The batches that a step sees have the form in which torch's default collation would give them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from counterfoil_core.base.arrays import Array
from counterfoil_core.base.dtypes import DATA_DTYPES
from counterfoil_core.base.errors import DataError

ITEM = "item"
"""Name of a data array whose rows have none; of several, ``item.0`` and so on."""
_WIDER: Mapping[torch.dtype, torch.dtype] = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.int8: torch.int32,
    torch.int16: torch.int32,
    torch.bool: torch.uint8,
}
"""Dtypes that an order does not hold, and those that hold the same values."""
_FORMS = "Return tensors, numpy arrays or numbers, or dicts and tuples of these"


def is_bool(item: Any) -> bool:
    """Whether a leaf holds truth values."""
    return getattr(item, "dtype", type(item)) in (torch.bool, np.dtype(bool), bool)


def truth(rows: Tensor, is_bool: bool) -> Tensor:
    """Rows that may be truth values again, as the objective expects them."""
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


def leaves(item: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The tensors, arrays and numbers of a row by name, in the order of its structure."""
    if isinstance(item, Mapping):
        for key in item:
            yield from leaves(item[key], f"{name}.{key}" if name else str(key))
    elif isinstance(item, (Tensor, np.ndarray, np.generic, bool, int, float)) or _is_number_list(item):
        yield name or ITEM, item
    elif isinstance(item, PackedSequence):
        raise DataError(
            f"{name or ITEM!r} in the job's data is a packed sequence; an order holds rows.",
            remedy="Let collate_fn pad (torch.nn.utils.rnn.pad_sequence) and return the lengths as well, and call "
            "pack_padded_sequence in the model.",
        )
    elif isinstance(item, Sequence) and not isinstance(item, (str, bytes)):
        fields = getattr(item, "_fields", range(len(item)))
        for key, part in zip(fields, item, strict=True):
            yield from leaves(part, f"{name or ITEM}.{key}")
    else:
        raise _unusable(item, name or ITEM)


def structure(item: Any, leaves: Iterator[tuple[str, bool]]) -> Callable[[Mapping[str, Tensor]], Any]:
    """What puts the rows of a batch into the structure of an item, from names and whether they hold truth values."""
    if isinstance(item, Mapping):
        parts = {key: structure(item[key], leaves) for key in item}
        return lambda rows: {key: part(rows) for key, part in parts.items()}
    if isinstance(item, (list, tuple)) and not _is_number_list(item):
        listed = [structure(part, leaves) for part in item]
        if hasattr(item, "_fields"):
            return lambda rows: type(item)(*(part(rows) for part in listed))
        return lambda rows: [part(rows) for part in listed]
    name, is_bool = next(leaves)
    return lambda rows: truth(rows[name], is_bool)


def is_bool_list(item: Any) -> bool:
    """Whether a leaf is a list of Python's truth values."""
    return isinstance(item, list) and bool(item) and (is_bool(item[0]) or is_bool_list(item[0]))

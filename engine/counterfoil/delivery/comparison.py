"""A delivered tensor beside the one of the run that it should come from. Pure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterfoil.audit.values.delivery import ComparedTensor, Relation
from counterfoil.delivery.tensorfile import StoredTensor
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.sentence import say
from counterfoil_core.judge.compare import compare_tensors

# Float32 numbers in half the bits: the nearest bfloat16 or float16, ties to even (IEEE 754, section 4.3.1).

FLOATS = ("F32", "F16", "BF16")
"""Dtypes of safetensors in which a float32 tensor may be delivered."""


def cast(values: Array, dtype: str) -> Array:
    """Return what float32 ``values`` become in a dtype of :data:`FLOATS`, as the float32 numbers that these are.

    Numbers beyond the largest become infinite, as in every conversion; each NaN becomes the same one.
    """
    if dtype == "F16":
        with np.errstate(over="ignore", under="ignore"):
            values = values.astype(np.float16).astype(np.float32)
    elif dtype == "BF16":
        bits = values.view(np.uint32)
        # Half of what is cut off, less one if what stays is even: a tie goes up only to an even number.
        rounded = (bits + (0x7FFF + ((bits >> 16) & 1)).astype(np.uint32)) & np.uint32(0xFFFF0000)
        values = np.where(np.isnan(values), np.float32(np.nan), rounded.view(np.float32))
    return one_nan(values)


def widen(stored: Array, dtype: str) -> Array:
    """Return numbers as they are stored (:data:`counterfoil.delivery.tensorfile.DTYPES`) as float32, which is exact."""
    if dtype == "F16":
        return one_nan(stored.view(np.float16).astype(np.float32))
    if dtype == "BF16":
        return one_nan((stored.astype(np.uint32) << np.uint32(16)).view(np.float32))
    return stored


def one_nan(values: Array) -> Array:
    """Return float32 values with one NaN instead of the many."""
    nan = np.isnan(values)
    return np.where(nan, np.float32(np.nan), values) if nan.any() else values


SAVED_DTYPES = {"float32": "F32", "int64": "I64", "int32": "I32", "uint8": "U8", "bool": "BOOL"}
"""Dtypes of state tensors, each with that of safetensors in which it is saved as it is."""
_CASTS = {"F32": Relation.SAME, "BF16": Relation.BFLOAT16, "F16": Relation.FLOAT16}
_MERGES = {"F32": Relation.MERGED, "BF16": Relation.MERGED_BFLOAT16, "F16": Relation.MERGED_FLOAT16}


def dtype_misfit(tensor: StoredTensor, state: str, dtype: str, shape: tuple[int, ...]) -> ComparedTensor | None:
    """Return the finding on a tensor whose dtype or shape no relation allows; None where one does.

    Args:
        tensor: The delivered tensor.
        state: Name of the state tensor.
        dtype: Its dtype.
        shape: Its shape.
    """
    allowed = FLOATS if dtype == "float32" else (SAVED_DTYPES[dtype],)
    if tensor.shape == shape and tensor.dtype in allowed:
        return None
    note = say(
        "{0} of shape {1}, where the run has {2} of shape {3}", tensor.dtype, list(tensor.shape), dtype, list(shape)
    )
    return ComparedTensor(tensor.name, state, None, tensor.elements, tensor.elements, float("inf"), note=note)


def compare_tensor(tensor: StoredTensor, stored: Array, state: str, trained: Array) -> ComparedTensor:
    """Compare a delivered tensor with a state tensor, bit for bit or as a cast of it.

    Args:
        tensor: The delivered tensor; :func:`dtype_misfit` found nothing.
        stored: Its elements as they are stored.
        state: Name of the state tensor.
        trained: Its elements.
    """
    if trained.dtype != np.float32:
        found = compare_tensors(tensor.name, trained, stored.view(trained.dtype))
        return _compared(
            tensor, state, Relation.SAME, found.differing, found.max_abs, found.index, found.trainer, found.replay
        )
    relation = _CASTS[tensor.dtype]
    wanted = trained if relation is Relation.SAME else cast(trained, tensor.dtype)
    found = compare_tensors(tensor.name, wanted, widen(stored, tensor.dtype))
    result = _compared(
        tensor, state, relation, found.differing, found.max_abs, found.index, found.trainer, found.replay
    )
    if relation is Relation.SAME:
        return result
    return replace(result, infinite=int(np.count_nonzero(np.isinf(wanted) & np.isfinite(trained))))


def compare_merge(
    tensor: StoredTensor, stored: Array, state: str, exact: Array, bound: Array
) -> tuple[ComparedTensor, float]:
    """Compare a delivered weight with the merge of a weight and its adapter.

    A merge in float32 gives a number from ``exact - bound`` to ``exact + bound``; rounding keeps the order of numbers,
    so that its cast lies between the casts of these ends.

    Args:
        tensor: The delivered tensor; :func:`dtype_misfit` found nothing.
        stored: Its elements as they are stored.
        state: Name of the weight's state tensor.
        exact: The exact merge, float64.
        bound: How far a merge in float32 may lie from it, float64.

    Returns:
        The finding, and the largest distance from the exact merge that an element may have.
    """
    given = widen(stored, tensor.dtype)
    low, high = (cast((exact + sign * bound).astype(np.float32), tensor.dtype) for sign in (-1, 1))
    if tensor.dtype == "F32":
        # Not rounded to float32 once more: the bound is that of the float32 number itself.
        inside = np.abs(given.astype(np.float64) - exact) <= bound
    else:
        inside = (low <= given) & (given <= high)
    wrong = ~inside
    distance = np.abs(one_nan(given).astype(np.float64) - exact)
    distance = np.where(np.isnan(distance), np.inf, distance)
    flat = int(np.argmax(np.where(wrong, distance, -1.0 if wrong.any() else distance))) if distance.size else 0
    index = tuple(int(i) for i in np.unravel_index(flat, exact.shape)) if distance.size else ()
    found = _compared(
        tensor,
        state,
        _MERGES[tensor.dtype],
        int(np.count_nonzero(wrong)),
        float(distance[index]) if distance.size else 0.0,
        index,
        float(exact[index]) if distance.size else 0.0,
        float(given[index]) if distance.size else 0.0,
    )
    infinite = int(np.count_nonzero(np.isinf(given) & inside))
    allowed = bound if tensor.dtype == "F32" else np.maximum(high - exact, exact - low)
    return replace(found, infinite=infinite), float(allowed.max()) if bound.size else 0.0


def _compared(
    tensor: StoredTensor,
    state: str,
    relation: Relation,
    differing: int,
    largest: float,
    index: tuple[int, ...],
    run: float,
    delivered: float,
) -> ComparedTensor:
    return ComparedTensor(tensor.name, state, relation, tensor.elements, differing, largest, index, run, delivered)

"""How far two states lie apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from counterfoil.audit.events import TensorDivergence

Array = npt.NDArray[Any]


def compare_states(trainer: Mapping[str, Array], replay: Mapping[str, Array]) -> tuple[TensorDivergence, ...]:
    """Compare two states with the same tensors; one entry for each, sorted by name."""
    return tuple(compare_tensors(name, trainer[name], replay[name]) for name in sorted(trainer))


def compare_tensors(name: str, trainer: Array, replay: Array) -> TensorDivergence:
    """Compare two arrays of the same dtype and shape element by element.

    A value that is not a number on one side counts as an infinite difference, since it is evidence and not noise.
    """
    shape = tuple(trainer.shape)
    differs = _bits(trainer) != _bits(replay)
    count = int(np.count_nonzero(differs))
    if not count:
        return TensorDivergence(name, shape, 0, 0.0, 0, 0.0, (), 0.0, 0.0)
    with np.errstate(invalid="ignore"):
        difference = np.abs(trainer.astype(np.float64) - replay.astype(np.float64))
    difference = np.where(np.isnan(difference) & differs, np.inf, np.nan_to_num(difference, nan=0.0, posinf=np.inf))
    # -0 and +0 differ in their bits alone: point at one of the differing elements all the same.
    flat = int(np.argmax(np.where(differs, difference, -1.0)))
    index = tuple(int(i) for i in np.unravel_index(flat, shape)) if shape else ()
    return TensorDivergence(
        name=name,
        shape=shape,
        differing=count,
        max_abs=float(difference.max()),
        max_ulps=_max_ulps(trainer, replay),
        l2=float(np.sqrt(np.sum(np.square(difference)))),
        index=index,
        trainer=float(trainer[index]),
        replay=float(replay[index]),
    )


def _bits(array: Array) -> Array:
    return array.view(np.int32) if array.dtype == np.float32 else array


def _max_ulps(trainer: Array, replay: Array) -> int:
    """Largest distance in units in the last place: the number of float32 values from one to the other."""
    if trainer.dtype != np.float32:
        one, other = trainer.astype(np.int64), replay.astype(np.int64)
        # Unsigned subtraction wraps, which makes it right also where the difference does not fit int64.
        with np.errstate(over="ignore"):
            distance = np.maximum(one, other).astype(np.uint64) - np.minimum(one, other).astype(np.uint64)
        return int(distance.max())

    def ordered(array: Array) -> Array:
        bits = array.view(np.int32).astype(np.int64)
        return np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)

    return int(np.abs(ordered(np.ascontiguousarray(trainer)) - ordered(np.ascontiguousarray(replay))).max())

"""How far two states lie apart, and where."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from counterfoil_core.base.arrays import Array
from counterfoil_core.commit.merkle import MerkleTree, first_difference, leaf_hash
from counterfoil_core.commit.state import chunk_tree, tensor_record
from counterfoil_core.values.dispute import ElementComparison, TensorDetail, TensorDivergence

ELEMENTS_BEFORE = 4
"""Elements that are shown before the first differing one."""
ELEMENTS_SHOWN = 24


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
        max_ulps=int(ulp_distances(trainer, replay).max()),
        l2=float(np.sqrt(np.sum(np.square(difference)))),
        index=index,
        trainer=float(trainer[index]),
        replay=float(replay[index]),
    )


def detail_difference(name: str, trainer: Array, replay: Array) -> TensorDetail:
    """Say in which chunks and elements two arrays of the same dtype and shape differ.

    The chunks are those of the tensor digest (:mod:`counterfoil_core.commit.state`), so that each step from the digest
    down to an element can be followed by hand.

    Args:
        name: Name of the tensor.
        trainer: The trainer's array.
        replay: The replay's.

    Raises:
        ValueError: No bit differs.
    """
    differs = np.flatnonzero(_bits(np.ascontiguousarray(trainer)) != _bits(np.ascontiguousarray(replay)))
    if not len(differs):
        raise ValueError(f"the two sides of {name!r} are equal")
    trees = chunk_tree(trainer), chunk_tree(replay)
    first_chunk, _ = first_difference(*trees)
    assert first_chunk is not None
    begin = max(0, int(differs[0]) - ELEMENTS_BEFORE)
    window = slice(begin, min(trainer.size, begin + ELEMENTS_SHOWN))
    ours, theirs = replay.reshape(-1)[window], trainer.reshape(-1)[window]
    ulps = ulp_distances(theirs, ours).tolist()
    equal = (_bits(theirs) == _bits(ours)).tolist()
    return TensorDetail(
        dtype=trainer.dtype.name,
        trainer=leaf_hash(tensor_record(name, trainer)),
        replay=leaf_hash(tensor_record(name, replay)),
        chunks=trees[0].size,
        differing_chunks=_count_differing(*trees),
        first_chunk=first_chunk,
        trainer_chunk=trees[0].leaf(first_chunk),
        replay_chunk=trees[1].leaf(first_chunk),
        elements=tuple(
            ElementComparison(
                index=tuple(int(i) for i in np.unravel_index(begin + place, trainer.shape)),
                trainer=float(theirs[place]),
                replay=float(ours[place]),
                ulps=ulps[place],
                equal=equal[place],
            )
            for place in range(len(theirs))
        ),
    )


def _count_differing(trainer: MerkleTree, replay: MerkleTree) -> int:
    return sum(trainer.leaf(number) != replay.leaf(number) for number in range(trainer.size))


def _bits(array: Array) -> Array:
    return array.view(np.int32) if array.dtype == np.float32 else array


def ulp_distances(trainer: Array, replay: Array) -> npt.NDArray[np.uint64]:
    """Return the distance of each element in units in the last place: how many float32 values lie in between.

    Args:
        trainer: float32 or an integer dtype, any shape; integers have their plain difference.
        replay: The same dtype and shape.

    Returns:
        uint64 of the same shape.
    """
    if trainer.dtype != np.float32:
        one, other = trainer.astype(np.int64), replay.astype(np.int64)
        # Unsigned subtraction wraps, which makes it right also where the difference does not fit int64.
        with np.errstate(over="ignore"):
            return np.asarray(np.maximum(one, other).astype(np.uint64) - np.minimum(one, other).astype(np.uint64))

    def ordered(array: Array) -> Array:
        bits = np.ascontiguousarray(array).view(np.int32).reshape(array.shape).astype(np.int64)
        return np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)

    return np.asarray(np.abs(ordered(trainer) - ordered(replay)).astype(np.uint64))

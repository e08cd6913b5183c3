"""What a closer look into one step shows: the rows that it read, and a tensor of both sides. Plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class LookProgress:
    """How far a look into a step is.

    Attributes:
        what: What is done, as words.
        done: How much of it.
        total: Of how much.
    """

    what: str
    done: int
    total: int


class RowKind(Enum):
    """How a row of data is best shown."""

    IMAGE = "image"
    """Pixels, ``[height, width]``, or with 1, 3 or 4 channels before or behind these."""
    TEXT = "text"
    """Bytes that are mostly printable characters."""
    TOKENS = "tokens"
    """Whole numbers in a row."""
    NUMBERS = "numbers"
    """One number, or several."""


@dataclass(frozen=True)
class RowsRead:
    """The rows of one data array in the batch of a step: ordered, and read as far as a fingerprint tells.

    Attributes:
        name: Name of the array.
        kind: How its rows are best shown.
        shape: Shape of a row.
        same: Whether the trainer's fingerprint is that of the ordered rows.
        said: What is known of what was read instead, as a sentence; empty where the same was read.
        ordered: float64 ``[rows shown, elements shown]``: the ordered rows, flat.
        read: float64 of the same shape: what was read; without rows where that is not known.
        texts: What the ordered rows say, for text; else empty.
        texts_read: What those say that were read; empty where that is not known.
    """

    name: str
    kind: RowKind
    shape: tuple[int, ...]
    same: bool
    said: str
    ordered: npt.NDArray[np.float64]
    read: npt.NDArray[np.float64]
    texts: tuple[str, ...] = ()
    texts_read: tuple[str, ...] = ()


@dataclass(frozen=True)
class DisputedRows:
    """The rows of the batch of a step, or of one share of it.

    Attributes:
        step: The step.
        rows: How many rows the batch has.
        places: Which of them are shown, from 0: those that differ first where they are known.
        numbers: Their numbers in the data.
        arrays: The arrays that the step reads.
    """

    step: int
    rows: int
    places: tuple[int, ...]
    numbers: tuple[int, ...]
    arrays: tuple[RowsRead, ...]


@dataclass(frozen=True)
class TensorSides:
    """One tensor of the state on both sides.

    Attributes:
        name: Its name.
        step: After which step it is taken.
        begin: After which step the trainer stored the state from which the replay came there.
        shape: Its shape.
        said: What would change if the replay's stood for the trainer's, in sentences.
        differing: How many elements differ.
        edges: float64 ``[bins + 1]``: the borders of the bins of values.
        trainer_bins: int64 ``[bins]``: how many elements of the trainer's lie in each.
        replay_bins: The same of the replay's.
        ulp_bins: int64 ``[n]``: how many elements are equal, then how many differ by 1 ulp, by 2 to 3, by 4 to 7, ...
        indices: int64 ``[k, dimensions]``: the elements that lie farthest apart.
        trainer: float64 ``[k]``: the trainer's values there.
        replay: float64 ``[k]``: the replay's.
        ulps: uint64 ``[k]``: how many float32 values lie in between.
    """

    name: str
    step: int
    begin: int
    shape: tuple[int, ...]
    said: tuple[str, ...]
    differing: int
    edges: npt.NDArray[np.float64]
    trainer_bins: npt.NDArray[np.int64]
    replay_bins: npt.NDArray[np.int64]
    ulp_bins: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int64]
    trainer: npt.NDArray[np.float64]
    replay: npt.NDArray[np.float64]
    ulps: npt.NDArray[np.uint64]


@dataclass(frozen=True)
class OperatorValue:
    """What an operator was given, or gave.

    Attributes:
        name: Name of the argument; empty for the output.
        shape: Its shape; empty for a scalar, and for what is no tensor.
        dtype: Its dtype; empty for what is no tensor.
        least: The smallest value; not a number where there is none, or what it is no tensor.
        largest: The largest.
        mean: Their mean.
        first: float64 ``[n]``: the first values, in C order.
        said: What it is, where it is no tensor: a number, a list of numbers.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    least: float
    largest: float
    mean: float
    first: npt.NDArray[np.float64]
    said: str = ""


@dataclass(frozen=True)
class OperatorLook:
    """The first operator of a step that differs, with its inputs and its output as the replay has them.

    Attributes:
        step: The step.
        number: Its place among the operators of the program, from 1.
        where: Name, pass and module.
        said: Whose values these are, and what cannot be shown, in sentences.
        values: Its arguments, and its output last.
    """

    step: int
    number: int
    where: str
    said: tuple[str, ...]
    values: tuple[OperatorValue, ...]

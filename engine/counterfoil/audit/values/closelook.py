"""What a closer look into one step shows: the rows that it read, and a tensor of both sides. Plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class LookProgress:
    """How far a look into a step is."""

    what: str  #: What is done, as words.
    done: int  #: How much of it.
    total: int  #: Of how much.


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
    """The rows of one data array in the batch of a step: ordered, and read as far as a fingerprint tells."""

    name: str  #: Name of the array.
    kind: RowKind  #: How its rows are best shown.
    shape: tuple[int, ...]  #: Shape of a row.
    same: bool  #: Whether the trainer's fingerprint is that of the ordered rows.
    said: str  #: What is known of what was read instead, as a sentence; empty where the same was read.
    ordered: npt.NDArray[np.float64]  #: float64 ``[rows shown, elements shown]``: the ordered rows, flat.
    read: npt.NDArray[np.float64]  #: float64 of the same shape: what was read; without rows where that is not known.
    texts: tuple[str, ...] = ()  #: What the ordered rows say, for text; else empty.
    texts_read: tuple[str, ...] = ()  #: What those say that were read; empty where that is not known.


@dataclass(frozen=True)
class DisputedRows:
    """The rows of the batch of a step, or of one share of it."""

    step: int  #: The step.
    rows: int  #: How many rows the batch has.
    places: tuple[int, ...]  #: Which of them are shown, from 0: those that differ first where they are known.
    numbers: tuple[int, ...]  #: Their numbers in the data.
    arrays: tuple[RowsRead, ...]  #: The arrays that the step reads.


@dataclass(frozen=True)
class TensorSides:
    """One tensor of the state on both sides."""

    name: str  #: Its name.
    step: int  #: After which step it is taken.
    begin: int  #: After which step the trainer stored the state from which the replay came there.
    shape: tuple[int, ...]  #: Its shape.
    said: tuple[str, ...]  #: What would change if the replay's stood for the trainer's, in sentences.
    differing: int  #: How many elements differ.
    edges: npt.NDArray[np.float64]  #: float64 ``[bins + 1]``: the borders of the bins of values.
    trainer_bins: npt.NDArray[np.int64]  #: int64 ``[bins]``: how many elements of the trainer's lie in each.
    replay_bins: npt.NDArray[np.int64]  #: The same of the replay's.
    #: int64 ``[n]``: how many elements are equal, then how many differ by 1 ulp, by 2 to 3, by 4 to 7, ...
    ulp_bins: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int64]  #: int64 ``[k, dimensions]``: the elements that lie farthest apart.
    trainer: npt.NDArray[np.float64]  #: float64 ``[k]``: the trainer's values there.
    replay: npt.NDArray[np.float64]  #: float64 ``[k]``: the replay's.
    ulps: npt.NDArray[np.uint64]  #: uint64 ``[k]``: how many float32 values lie in between.


@dataclass(frozen=True)
class OperatorValue:
    """What an operator was given, or gave."""

    name: str  #: Name of the argument; empty for the output.
    shape: tuple[int, ...]  #: Its shape; empty for a scalar, and for what is no tensor.
    dtype: str  #: Its dtype; empty for what is no tensor.
    least: float  #: The smallest value; not a number where there is none, or what it is no tensor.
    largest: float  #: The largest.
    mean: float  #: Their mean.
    first: npt.NDArray[np.float64]  #: float64 ``[n]``: the first values, in C order.
    said: str = ""  #: What it is, where it is no tensor: a number, a list of numbers.


@dataclass(frozen=True)
class OperatorLook:
    """The first operator of a step that differs, with its inputs and its output as the replay has them."""

    step: int  #: The step.
    number: int  #: Its place among the operators of the program, from 1.
    where: str  #: Name, pass and module.
    said: tuple[str, ...]  #: Whose values these are, and what cannot be shown, in sentences.
    values: tuple[OperatorValue, ...]  #: Its arguments, and its output last.

"""The batches of a DataLoader, as those of steps: read epoch after epoch, as a loop over it would be."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from counterfoil.base.foreignerrors import describe_error, theirs
from counterfoil.program.whereabouts import in_brackets, where_raised
from counterfoil.training.leaves import leaves
from counterfoil_core.base.errors import DataError

Last = Literal["keep", "drop"]
"""What becomes of what is left at the end of an epoch."""


@dataclass(frozen=True)
class Batches:
    """How the batches of a DataLoader become those of steps."""

    accumulate: int = 1  #: Batches of a step, whose gradients are accumulated.
    #: Whether what is left at the end of an epoch is kept or dropped: a shorter batch, and batches too few for a step,
    #: which make a step of their own. None keeps a shorter batch, and raises where there are too few.
    last: Last | None = None


def steps_of(loader: DataLoader[Any], steps: int, wanted: Batches) -> Iterator[list[Any]]:
    """Yield the batches of each of so many steps, epoch after epoch.

    Args:
        loader: Gives the batches.
        steps: Number of steps.
        wanted: How they become those of steps.

    Raises:
        DataError: The loader fails or gives none, or an epoch ends in the midst of a step.
    """
    left, read = steps, 0
    while left:
        before = left
        for step in _steps_of_epoch(loader, read, wanted):
            yield step
            read += len(step)
            left -= 1
            if not left:
                return
        if left == before:
            raise DataError("The job's DataLoader gives no batches.", remedy="Give it rows enough for a batch.")


def _steps_of_epoch(loader: DataLoader[Any], read: int, wanted: Batches) -> Iterator[list[Any]]:
    """The batches of each step of an epoch; ``read`` were read before it."""
    step: list[Any] = []
    for batch in _batches_of_epoch(loader, read, drop=wanted.last == "drop"):
        step.append(batch)
        if len(step) == wanted.accumulate:
            yield step
            step = []
    if step and wanted.last == "keep":
        yield step
    elif step and wanted.last is None:
        raise left_over(len(step), wanted.accumulate)


def left_over(batches: int, accumulate: int) -> DataError:
    """Return what to say where an epoch ends with so many batches, too few for a step."""
    return DataError(
        f"An epoch of the job's DataLoader ends with {batches} of the {accumulate} batches of a step.",
        remedy="Say last='drop' to leave them out, or last='keep' to make a step of them, whose loss is the mean of "
        "theirs; or choose a number of batches that divides those of an epoch.",
    )


def _batches_of_epoch(loader: DataLoader[Any], read: int, *, drop: bool) -> Iterator[Any]:
    """The batches of an epoch; with ``drop`` without the last, if it is shorter than the first."""
    first = 0
    held: list[Any] = []
    try:
        for batch in loader:
            yield from held
            held = []
            first = first or _rows_in(batch)
            if drop and _rows_in(batch) < first:
                held = [batch]
            else:
                yield batch
            read += 1
    except (DataError, GeneratorExit):
        raise
    except BaseException as error:
        theirs(error)
        raise DataError(
            f"Batch {read} of the job's DataLoader cannot be read: {describe_error(error)}"
            f"{in_brackets(where_raised(error))}.",
            remedy="Correct the Dataset, the sampler or collate_fn; they are called when the order is written.",
        ) from error


def _rows_in(batch: Any) -> int:
    """How many rows a batch has, by whatever it holds first; 0 where that cannot be told."""
    _, leaf = next(leaves(batch, ""), ("", None))
    return len(leaf) if isinstance(leaf, Sized) and getattr(leaf, "shape", (1,)) != () else 0


class _Numbers(torch.utils.data.Dataset[int]):
    """The row numbers of a dataset."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, number: int) -> int:
        return int(number)


def row_numbers(loader: DataLoader[Any], length: int) -> DataLoader[Any]:
    """Return a loader of the numbers of the rows that a loader draws, from the same sampler and generator.

    Args:
        loader: A loader with a batch sampler.
        length: Rows of its dataset.
    """
    return DataLoader(_Numbers(length), batch_sampler=loader.batch_sampler, generator=loader.generator, collate_fn=list)


def check_whole(loader: DataLoader[Any]) -> None:
    """Check that a loader gives all rows, and not those of one process of several; raises DataError."""
    for sampler in (loader.sampler, getattr(loader.batch_sampler, "sampler", None)):
        if isinstance(sampler, DistributedSampler) and sampler.num_replicas > 1:
            raise DataError(
                f"The job's DataLoader gives the rows of one process of {sampler.num_replicas} (DistributedSampler); "
                "an order names the rows of the whole step.",
                remedy="Give it a plain sampler, and the batch size of all processes together; micro_batches "
                "accumulates gradients where that is too large.",
            )

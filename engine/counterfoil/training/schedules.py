"""Learning-rate schedules and index schedules: plain functions evaluated when the order is written."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import torch

from counterfoil.errors import DataError
from counterfoil.execution.philox import philox4x32


def cosine(base: float, steps: int) -> list[float]:
    """Cosine annealing from ``base`` to 0 (Loshchilov and Hutter 2017), one value for each step."""
    return [base * 0.5 * (1.0 + math.cos(math.pi * step / steps)) for step in range(steps)]


def warmup_linear(base: float, steps: int, warmup: int) -> list[float]:
    """Rise linearly to ``base`` over ``warmup`` steps, then fall linearly to 0."""
    rising = [base * (step + 1) / warmup for step in range(min(warmup, steps))]
    falling = max(steps - warmup, 1)
    return rising + [base * (1.0 - step / falling) for step in range(steps - len(rising))]


def shuffled_epochs(rows: int, batch_size: int, steps: int, seed: int) -> npt.NDArray[np.int64]:
    """Return an index schedule that visits the rows in a new random order each epoch.

    Args:
        rows: Number of dataset rows.
        batch_size: Rows per step; what is left at the end of an epoch is dropped.
        steps: Number of steps.
        seed: Keys the Philox generator that shuffles.

    Returns:
        int64 ``[steps, batch_size]``.

    Raises:
        DataError: There are fewer rows than a batch needs.
    """
    if batch_size < 1 or steps < 1:
        raise DataError("A schedule needs at least one step and one row per step.")
    if rows < batch_size:
        raise DataError(
            f"The data has {rows} rows, too few for a batch of {batch_size}.", remedy="Choose a smaller batch."
        )
    per_epoch = rows // batch_size
    epochs = -(-steps // per_epoch)
    batches = []
    for epoch in range(epochs):
        index = torch.arange(rows, dtype=torch.int64)
        # Sorting by 64 random bits, ties by row: a permutation that every machine computes alike.
        words = philox4x32((index, 0, epoch, 0xC0DE), (seed & 0xFFFFFFFF, seed >> 32))
        keys = (np.asarray(words[0], np.uint64) << np.uint64(32)) | np.asarray(words[1], np.uint64)
        order = np.argsort(keys, kind="stable")[: per_epoch * batch_size]
        batches.append(order.reshape(per_epoch, batch_size))
    return np.concatenate(batches)[:steps].astype(np.int64)

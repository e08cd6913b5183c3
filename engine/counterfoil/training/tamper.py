"""Trainers who do not do as ordered, for demonstrations and tests.

A tamper changes the inputs of a step behind the order's back. The recorder then signs what really happened, so the run
is consistent in itself: only replay can tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from counterfoil_core.arithmetic.compute.interpreter import StepInputs
from counterfoil_core.base.errors import DataError

Tamper = Callable[[StepInputs], StepInputs]
"""Changes the inputs of a step, or returns them as they are."""


@dataclass(frozen=True)
class LabelFlip:
    """Flips the labels of one batch: label k becomes ``classes - 1 - k``."""

    step: int  #: The step whose batch is poisoned.
    array: str = "labels"  #: Name of the label array.
    classes: int = 10  #: Number of classes.
    share: int | None = None  #: The share that does it, where the steps of the order have some.

    def __call__(self, inputs: StepInputs) -> StepInputs:
        """Flip the labels at the step; leave every other step alone.

        Raises:
            DataError: The batch has no array of that name.
        """
        if inputs.draws.step != self.step or inputs.share != self.share:
            return inputs
        if self.array not in inputs.batch:
            raise DataError(f"The batch has no array {self.array!r} to tamper with.")
        flipped = self.classes - 1 - inputs.batch[self.array]
        return replace(inputs, batch={**inputs.batch, self.array: flipped})

"""What a recording and the replay beside it have come to: losses by step, and how fast each goes."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from counterfoil_app.model.progress import RateMeter

Floats = npt.NDArray[np.float64]


class GrowingCurve:
    """Values by step, from step 1; a step that has none is not a number.

    Args:
        clock: Seconds that only grow.

    Attributes:
        last: The last step that came.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._values = array("d")
        self._rate = RateMeter()
        self.last = 0

    def put(self, step: int, value: float) -> None:
        """Know the value of a step."""
        missing = step - len(self._values)
        if missing > 0:
            self._values.extend([float("nan")] * missing)
        self._values[step - 1] = value
        self.last = step
        self._rate.note(self._clock(), step)

    def go_back(self, step: int) -> None:
        """Know that the last step is this one again; values of later ones stay until they come once more."""
        self.last = step
        self.wait()

    def wait(self) -> None:
        """Know that nothing comes for a while: the speed is measured anew."""
        self._rate.restart()

    @property
    def values(self) -> Floats:
        """The values of the steps, from step 1."""
        return np.array(self._values, dtype=np.float64)

    @property
    def steps_per_second(self) -> float | None:
        """The speed; None while too little is known."""
        return self._rate.steps_per_second

    def seconds_to(self, step: int) -> float | None:
        """How long it takes to a step at this speed; None while too little is known."""
        return self._rate.seconds_left(step)

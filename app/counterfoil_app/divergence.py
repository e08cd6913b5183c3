"""How far each state tensor lies from the trainer's, checkpoint by checkpoint, as numbers ready to be drawn."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from counterfoil import DivergenceMeasured

EQUAL_WITHOUT_SCALE = -12.0
"""Where equal tensors are drawn (power of ten) while no tensor differs and there is no scale yet."""

Floats = npt.NDArray[np.float64]


class DivergenceTable:
    """The largest absolute difference of every tensor at every compared checkpoint."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self._steps: list[int] = []
        self._columns: list[Floats] = []

    def __len__(self) -> int:
        return len(self._steps)

    def add(self, measured: DivergenceMeasured) -> None:
        """Add a comparison; a later one of the same step replaces it."""
        if not self.names:
            self.names = tuple(item.name for item in measured.tensors)
        found = {item.name: item.max_abs for item in measured.tensors}
        column = np.array([found.get(name, np.nan) for name in self.names], dtype=np.float64)
        if self._steps and self._steps[-1] == measured.step:
            self._columns[-1] = column
        else:
            self._steps.append(measured.step)
            self._columns.append(column)

    @property
    def steps(self) -> Floats:
        """The compared steps as float64 [checkpoints]."""
        return np.array(self._steps, dtype=np.float64)

    def levels(self) -> tuple[Floats, float, float]:
        """The differences as powers of ten, for a log axis that drops nothing.

        Returns:
            The levels, float64 [tensors, checkpoints]; the level at which equal tensors stand (a whole number below
            every other level), and the level at which differences that are infinite or not a number stand.
        """
        if not self._columns:
            return np.empty((len(self.names), 0)), EQUAL_WITHOUT_SCALE, 1.0
        values = np.stack(self._columns, axis=1)
        finite = np.isfinite(values)
        positive = finite & (values > 0)
        levels = np.full(values.shape, np.nan)
        levels[positive] = np.log10(values[positive])
        low, high = EQUAL_WITHOUT_SCALE, 0.0
        if positive.any():
            low, high = float(np.floor(levels[positive].min())) - 1, float(np.ceil(levels[positive].max()))
        levels[finite & ~positive] = low
        levels[~finite] = high + 1
        return levels, low, high + 1

    def largest(self) -> str | None:
        """Name of the tensor that ever differed most; None when all are equal."""
        if not self._columns:
            return None
        values = np.stack(self._columns, axis=1)
        peaks = np.where(np.isfinite(values), values, np.inf).max(axis=1)
        return self.names[int(peaks.argmax())] if peaks.max() > 0 else None

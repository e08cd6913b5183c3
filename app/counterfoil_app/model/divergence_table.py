"""How far each state tensor lies from the trainer's, checkpoint by checkpoint, as numbers ready to be drawn.

Checkpoints at which all tensors are equal, nearly all of them, take no room beyond their step number. What of a long
series is drawn is the part in view, thinned out by its peaks, so that no spike is ever lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from counterfoil import DivergenceMeasured

Floats = npt.NDArray[np.float64]
SMALLEST_DECADES = 3
"""The colour scale spans at least so many powers of ten, so that one value does not look like two extremes."""


@dataclass(frozen=True)
class Scale:
    """The range of a logarithmic colour scale: 10^low to 10^high, both whole powers."""

    low: int
    high: int

    def fractions(self, values: Floats) -> Floats:
        """Return the place of positive finite values on the scale, 0 to 1; NaN for all others."""
        usable = np.isfinite(values) & (values > 0)
        levels = np.full(values.shape, np.nan)
        levels[usable] = (np.log10(values[usable]) - self.low) / (self.high - self.low)
        return np.asarray(np.clip(levels, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class DivergenceColumns:
    """Everything that a divergence table holds."""

    names: tuple[str, ...]  #: Names of the tensors, in the order of the table.
    steps: npt.NDArray[np.int64]  #: The compared steps, int64 ``[checkpoints]``.
    differing: npt.NDArray[np.int64]  #: Places among these at which anything differs, ascending, int64 ``[n]``.
    values: Floats  #: The largest absolute differences there, float64 ``[tensors, n]``.


def module_and_tensor(name: str) -> tuple[str, str]:
    """Split the name of a state tensor for people: the module, and the tensor in it with its optimizer slot.

    ``sgd.momentum:head.weight`` is ``head`` and ``weight (sgd.momentum)``.
    """
    slot, _, path = name.rpartition(":")
    module, _, tensor = path.rpartition(".")
    return module, f"{tensor} ({slot})" if slot else tensor


class DivergenceTable:
    """The largest absolute difference of every tensor at every compared checkpoint."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self._steps = np.zeros(64, np.int64)
        self._count = 0
        self._differing: list[int] = []  # positions among the compared checkpoints, ascending
        self._values: npt.NDArray[np.float64] = np.zeros((0, 0))

    def __len__(self) -> int:
        return self._count

    def add(self, measured: DivergenceMeasured) -> None:
        """Add a comparison, in ascending order of steps; a later one of the same step replaces it."""
        if not self.names:
            self.names = tuple(
                sorted((item.name for item in measured.tensors), key=lambda name: (module_and_tensor(name), name))
            )
            self._values = np.zeros((len(self.names), 16))
        if self._count and self._steps[self._count - 1] == measured.step:
            self._count -= 1
            if self._differing and self._differing[-1] == self._count:
                self._differing.pop()
        if self._count == len(self._steps):
            self._steps = np.concatenate([self._steps, np.zeros_like(self._steps)])
        self._steps[self._count] = measured.step
        if any(item.differing for item in measured.tensors):
            found = {item.name: item.max_abs for item in measured.tensors}
            column = np.array([found.get(name, np.nan) for name in self.names], np.float64)
            if len(self._differing) == self._values.shape[1]:
                self._values = np.concatenate([self._values, np.zeros_like(self._values)], axis=1)
            self._values[:, len(self._differing)] = np.where(np.isnan(column), np.inf, column)
            self._differing.append(self._count)
        self._count += 1

    def columns(self) -> DivergenceColumns:
        """Return everything that the table holds, for :meth:`of_columns`."""
        count = len(self._differing)
        differing = np.array(self._differing, np.int64)
        return DivergenceColumns(self.names, self.steps.copy(), differing, self._values[:, :count].copy())

    @classmethod
    def of_columns(cls, columns: DivergenceColumns) -> DivergenceTable:
        """Return the table that :meth:`columns` gave; raises ValueError for anything else."""
        names, steps, differing, values = columns.names, columns.steps, columns.differing, columns.values
        if values.shape != (len(names), len(differing)) or steps.ndim != 1 or differing.ndim != 1:
            raise ValueError("other columns than those of a divergence table")
        result = cls()
        result.names, result._count = names, len(steps)
        result._steps = np.concatenate([steps, np.zeros(64, np.int64)])
        result._values = np.concatenate([values, np.zeros((len(names), 16))], axis=1)
        result._differing = differing.tolist()
        return result

    def copy(self) -> DivergenceTable:
        """Return the table as it is now, for another thread."""
        result = DivergenceTable()
        result.names, result._count = self.names, self._count
        result._steps, result._values = self._steps.copy(), self._values.copy()
        result._differing = list(self._differing)
        return result

    @property
    def steps(self) -> npt.NDArray[np.int64]:
        """The compared steps, int64 ``[checkpoints]``."""
        return self._steps[: self._count]

    def at(self, step: int) -> Floats | None:
        """Return the differences at a compared step, float64 ``[tensors]``; None where nothing was compared."""
        place = int(np.searchsorted(self.steps, step))
        if place == self._count or self._steps[place] != step:
            return None
        column = int(np.searchsorted(self._differing, place))
        if column == len(self._differing) or self._differing[column] != place:
            return np.zeros(len(self.names))
        return self._values[:, column].copy()

    def scale(self) -> Scale:
        """The colour scale that holds every finite difference."""
        values = self._values[:, : len(self._differing)]
        usable = values[np.isfinite(values) & (values > 0)]
        if not usable.size:
            return Scale(-SMALLEST_DECADES, 0)
        low, high = int(np.floor(np.log10(usable.min()))), int(np.ceil(np.log10(usable.max())))
        return Scale(min(low, high - SMALLEST_DECADES), high)

    def has_broken(self) -> bool:
        """Whether any difference is infinite or not a number."""
        return bool(np.isinf(self._values[:, : len(self._differing)]).any())

    def image(self, first: int, last: int, columns: int, every: int, disputed: int = 0) -> Floats:
        """Return the differences over a range of steps, thinned out by the peak, so that no spike is lost.

        A checkpoint speaks for the steps since the one before: it covers the ``every`` steps that end with it.

        Args:
            first: First step.
            last: Last step.
            columns: Most columns of the image.
            every: Steps from one checkpoint to the next.
            disputed: The first step that differs: those before it match, though the next checkpoint differs; 0 for
                none.

        Returns:
            float64 ``[tensors, columns]``: NaN where nothing was compared, 0 where all is equal, infinity where a
            difference is not finite.
        """
        span = last - first + 1
        columns = max(1, min(columns, span))
        result = np.full((len(self.names), columns), np.nan)
        edges = first + np.arange(columns + 1, dtype=np.int64) * span // columns
        begins = np.searchsorted(self.steps, edges[:-1])
        ends = np.searchsorted(self.steps, np.maximum(edges[1:] - 1, edges[:-1]) + every)
        result[:, begins < ends] = 0.0
        matching = edges[1:] <= disputed
        ends[matching] = np.minimum(ends[matching], np.searchsorted(self.steps, disputed))
        differing = np.array(self._differing, np.int64)
        ones, others = np.searchsorted(differing, begins), np.searchsorted(differing, ends)
        for place in np.flatnonzero(ones < others):
            result[:, place] = self._values[:, ones[place] : others[place]].max(axis=1)
        return result

    def differing(self) -> int:
        """How many tensors differ at any compared checkpoint."""
        return int((self._values[:, : len(self._differing)] != 0).any(axis=1).sum())


@dataclass(frozen=True, eq=False)
class Thinned:
    """Steps in view, where there are more than pixels: what lies at each place."""

    #: Where the places lie, float64 ``[n]``: the step itself, or the middle of those that share the place.
    steps: Floats
    least: Floats  #: The smallest value there, float64 ``[n]``; not a number at places without any value.
    mean: Floats  #: Their mean, float64 ``[n]``.
    most: Floats  #: The largest, float64 ``[n]``.
    width: float  #: Steps from one place to the next.
    merged: bool  #: Whether steps share places at all; else the three are the same.


def thin_to_view(values: Floats, first: int, last: int, places: int) -> Thinned:
    """Say what lies at every place in view: no peak is lost.

    Args:
        values: float64 ``[steps]``: the value of step 1, 2, ...; NaN where there is none.
        first: First step in view; one more is kept on either side, so that lines lead out of the view.
        last: Last step in view.
        places: How many places there are, for instance pixels.
    """
    begin, end = max(0, first - 2), min(len(values), last + 1)
    count = max(0, end - begin)
    if count <= places:
        seen = values[begin:end]
        return Thinned(np.arange(begin + 1, begin + 1 + count, dtype=np.float64), seen, seen, seen, 1.0, False)
    edges = begin + np.arange(places) * count // places
    known = np.isfinite(values[:end])
    counts = np.add.reduceat(known, edges, dtype=np.int64)
    sums = np.add.reduceat(np.where(known, values[:end], 0.0), edges)
    means = np.divide(sums, counts, out=np.full(places, np.nan), where=counts > 0)
    ends = np.append(edges[1:], end)
    return Thinned(
        (edges + 1 + ends) / 2,
        np.fmin.reduceat(values[:end], edges),
        means,
        np.fmax.reduceat(values[:end], edges),
        count / places,
        True,
    )


@dataclass(frozen=True)
class RowGroup:
    """Neighbouring tensors that share a name."""

    label: str  #: The name.
    begin: int  #: Position of the first.
    end: int  #: One past the last.


def group_rows(names: tuple[str, ...], room: int) -> list[RowGroup]:
    """Group tensors, ordered by module, as coarsely as needed.

    Args:
        names: Names of the state tensors, those of a module next to each other.
        room: How many groups there may be, at least 1.

    Returns:
        Single tensors where they fit; else modules, then ever shorter module paths; at last, equal parts.
    """
    if not names:
        return []
    whole = [" ".join(filter(None, (module, tensor))) for module, tensor in map(module_and_tensor, names)]
    if len(names) <= room:
        return [RowGroup(label, place, place + 1) for place, label in enumerate(whole)]
    paths = [module_and_tensor(name)[0].split(".") for name in names]
    for depth in range(max(map(len, paths)), 0, -1):
        groups = _merge([".".join(path[:depth]) for path in paths])
        if len(groups) <= room:
            return groups
    edges = [place * len(names) // room for place in range(room + 1)]
    return [RowGroup(f"{whole[begin]} \u2026", begin, end) for begin, end in pairwise(edges)]


def _merge(labels: list[str]) -> list[RowGroup]:
    groups: list[RowGroup] = []
    for place, label in enumerate(labels):
        if groups and groups[-1].label == label:
            groups[-1] = RowGroup(label, groups[-1].begin, place + 1)
        else:
            groups.append(RowGroup(label, place, place + 1))
    return groups

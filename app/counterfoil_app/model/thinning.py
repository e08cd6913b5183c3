"""What of a long series is drawn: the part in view, thinned out by its peaks, so that no spike is ever lost."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from counterfoil_app.model.divergence_table import module_and_tensor

Floats = npt.NDArray[np.float64]


def thin_to_view(values: Floats, first: int, last: int, places: int) -> tuple[Floats, Floats]:
    """Keep the smallest and the largest value of every place in view.

    Args:
        values: float64 ``[steps]``: the value of step 1, 2, ...; NaN where there is none.
        first: First step in view; one more is kept on either side, so that lines lead out of the view.
        last: Last step in view.
        places: How many places there are, for instance pixels.

    Returns:
        Steps and values, at most two for each place; NaN at places without any value.
    """
    begin, end = max(0, first - 2), min(len(values), last + 1)
    count = end - begin
    if count <= 2 * places:
        return np.arange(begin + 1, end + 1, dtype=np.float64), values[begin:end]
    edges = begin + np.arange(places) * count // places
    lows = np.fmin.reduceat(values[:end], edges)
    highs = np.fmax.reduceat(values[:end], edges)
    steps = np.repeat(edges + 1.0, 2)
    steps[1::2] += 0.5 * count / places
    return steps, np.stack([lows, highs], axis=1).reshape(-1)


@dataclass(frozen=True)
class RowGroup:
    """Neighbouring tensors that share a name.

    Attributes:
        label: The name.
        begin: Position of the first.
        end: One past the last.
    """

    label: str
    begin: int
    end: int


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

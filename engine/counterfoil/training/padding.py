"""Batches of more shapes than an order has programs: their lengths are padded to a few.

Padding further than the client's own collation does must not change a loss. What to pad with is what that collation
pads with, as it shows on rows of several lengths, or what the client says; and the losses of batches that grow are
compared, with the model in evaluation mode, where nothing of it is random.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from counterfoil.base.foreignerrors import theirs
from counterfoil.program.clientstate import Snapshot
from counterfoil.program.passes import Objective
from counterfoil.program.steadiness import generators_kept
from counterfoil.training.forms import Forms
from counterfoil.training.leaves import leaves, numbers_of
from counterfoil.training.rows import Rows
from counterfoil.training.tables import Shape
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.errors import DataError
from counterfoil_core.bundle.schema import MAX_PROGRAMS

PADDED_PROGRAMS = 16
"""Programs of an order whose batches are padded."""
_PROBED = 16
"""Rows that are collated to see what is padded with."""
_TRIED = 32
"""Batches whose losses are compared before and after."""
_SAME = 1e-4
"""A loss is the same if it differs by no more than this share of it: other lengths are summed in another order."""


@dataclass(frozen=True)
class Pad:
    """What an array is padded with."""

    value: float  #: The number.
    left: bool = False  #: Whether it stands before what is there, and not behind it.


def fit_batches(
    rows: Rows,
    model: nn.Module,
    objective: Objective,
    data: Any,
    pad: Mapping[str, float] | None,
    schedule: npt.NDArray[np.int64],
) -> tuple[Rows, tuple[str, ...]]:
    """Return the data so that an order has programs enough for the forms of its batches, and what was done to it.

    Args:
        rows: The data.
        model: The model.
        objective: The objective, to compare losses.
        data: The client's data, for the collation of a DataLoader.
        pad: What the client says that arrays are padded with.
        schedule: The rows of each step.

    Returns:
        The data, and sentences for the user.

    Raises:
        DataError: Padding is needed, and nobody knows what with; or it changes losses; or there are still too many.
    """
    forms = rows.forms
    if forms is None or len(forms.names) == 1:
        return rows, ()
    shapes = f"The batches have {len(forms.kinds)} shapes"
    if len(forms.names) <= MAX_PROGRAMS:
        return rows, (f"{shapes}; the order has {len(forms.names)} programs, one for each form of a step.",)
    multiple = _multiple(forms)
    padded = forms.rounded(multiple)
    grown = _grown(forms, multiple)
    found = _collated_pads(data)
    pads = (
        found if pad is None else {name: Pad(value, name in found and found[name].left) for name, value in pad.items()}
    )
    lacking = sorted(grown - pads.keys())
    if lacking:
        raise DataError(
            f"{shapes}, more than the {MAX_PROGRAMS} programs of an order, and how {_listed(lacking)} would be padded "
            "to fewer lengths cannot be told.",
            remedy=_REMEDY.format(", ".join(f"{name!r}: 0" for name in lacking)),
        )
    pads = {name: pads[name] for name in sorted(grown)}
    made = replace(rows, arrays=_padded(rows, forms, multiple, pads, schedule), forms=padded)
    change = _largest_change(rows, made, model, objective, schedule)
    if pad is None and not change <= _SAME:
        known = f"changes by {change:.2g} of itself" if math.isfinite(change) else "cannot be computed here"
        raise DataError(
            f"{shapes}, more than the {MAX_PROGRAMS} programs of an order, and padded to fewer lengths as collate_fn "
            f"pads ({_in_words(pads)}) the loss of a batch {known}.",
            remedy=_REMEDY.format(", ".join(f"{name!r}: {pads[name].value:g}" for name in pads)),
        )
    how = "" if pad is not None else ", as collate_fn pads"
    return made, (
        f"{shapes}, more than the {MAX_PROGRAMS} programs of an order. Lengths are padded to the next multiple of "
        f"{multiple}{how} ({_in_words(pads)}), which makes {len(padded.names)} programs. The losses of the batches "
        f"that were tried change by {change:.1e} of themselves at most.",
    )


_REMEDY = (
    "Say in the job what to pad with, pad={{{0}}}; or let collate_fn pad to a multiple, or to one length for all "
    "batches, which the loss leaves out."
)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def _in_words(pads: Mapping[str, Pad]) -> str:
    return ", ".join(f"{name} with {pad.value:g}" for name, pad in pads.items())


def _multiple(forms: Forms) -> int:
    """The least multiple that makes the forms few enough; raises DataError."""
    longest = max((length for kind in forms.kinds for shape in kind.values() for length in shape[1:]), default=1)
    multiples = () if forms.whole else range(2, longest + 1)
    for multiple in multiples:
        if len(set(forms.rounded(multiple).steps)) <= PADDED_PROGRAMS:
            return multiple
    raise DataError(
        f"The batches of a step come in {len(forms.names)} forms; an order has at most {MAX_PROGRAMS} programs, and "
        "padding to one length would leave too many.",
        remedy="Give all batches as many rows each, with the row as the first axis (batch_first=True), and pad them to "
        "one length, or to a few.",
    )


def _grown(forms: Forms, multiple: int) -> set[str]:
    """Names of the arrays that become longer in some batch."""
    pairs = ((kind, forms.padded_kind(kind, multiple)) for kind in forms.kinds)
    return {name for before, after in pairs for name in before if before[name] != after[name]}


def _padded(
    rows: Rows, forms: Forms, multiple: int, pads: Mapping[str, Pad], schedule: npt.NDArray[np.int64]
) -> dict[str, Array]:
    """The arrays, with each row padded to the length of its batch."""
    arrays = {name: array.copy() if name in pads else array for name, array in rows.arrays.items()}
    for number, kind in enumerate(forms.kinds):
        after = forms.padded_kind(kind, multiple)
        chosen = np.unique(np.concatenate(list(_rows_of(forms, schedule, number))))
        for name, pad in pads.items():
            before, within = kind[name][1:], after[name][1:]
            if before == within:
                continue
            filled = np.full((len(chosen), *within), pad.value, arrays[name].dtype)
            own, there = (slice(None), *_inside(before, within, pad)), (slice(None), *_box(within))
            filled[own] = rows.arrays[name][chosen][(slice(None), *_box(before))]
            padded = arrays[name][chosen]
            padded[there] = filled
            arrays[name][chosen] = padded
    return arrays


def _box(shape: Shape) -> tuple[slice, ...]:
    return tuple(slice(length) for length in shape)


def _inside(shape: Shape, within: Shape, pad: Pad) -> tuple[slice, ...]:
    """Where something lies in what it is padded to."""
    if pad.left:
        return tuple(slice(whole - length, whole) for length, whole in zip(shape, within, strict=True))
    return _box(shape)


def _rows_of(forms: Forms, schedule: npt.NDArray[np.int64], number: int) -> Iterator[npt.NDArray[np.int64]]:
    """The rows of each part of a kind."""
    count = next(iter(forms.kinds[number].values()))[0]
    for step, combination in enumerate(forms.steps):
        for place, kind in enumerate(combination):
            if kind == number:
                first = place * forms.rows
                yield schedule[step, first : first + count]


# What a collation pads with.


def _collated_pads(data: Any) -> dict[str, Pad]:
    """What the collation of a loader pads each array with, as far as that shows; nothing for other data."""
    # Of batches that another loader gave, its rows and its collation show it.
    data = getattr(data, "drawn_from", data)
    if not isinstance(data, DataLoader) or not hasattr(data.dataset, "__getitem__") or data.collate_fn is None:
        return {}
    collate, dataset = data.collate_fn, cast(Sequence[Any], data.dataset)
    with generators_kept():
        try:
            chosen = np.linspace(0, len(dataset) - 1, _PROBED).astype(int).tolist()
            given = [dataset[number] for number in dict.fromkeys(chosen)]
            alone = [_arrays(collate([row])) for row in given]
            found: dict[str, list[Pad]] = {}
            for name in alone[0]:
                sizes = [arrays[name].size for arrays in alone]
                short, long = int(np.argmin(sizes)), int(np.argmax(sizes))
                both = _arrays(collate([given[short], given[long]]))[name]
                found[name] = _pads_of(alone[short][name][0], alone[long][name][0], both)
            return _on_one_side(found)
        except BaseException as error:
            # A collation of whole batches alone shows nothing; the client is asked then.
            theirs(error)
            return {}


def _arrays(batch: Any) -> dict[str, Array]:
    return {name: numbers_of(leaf, name) for name, leaf in leaves(batch, "")}


def _pads_of(short: Array, long: Array, both: Array) -> list[Pad]:
    """What a row was padded with beside a longer one, from each side where that may be.

    Args:
        short: The row alone.
        long: The longer one alone.
        both: Both as a batch: as they are, or the longer one first.
    """
    same = [row for row in both if not np.array_equal(row, long)]
    certain = [
        pad
        for row in same
        for pad in _outside(short, row)
        if np.array_equal(row[_inside(short.shape, row.shape, pad)], short)
    ]
    # Where a collation draws at random, as for masked language models, the row is another each time.
    return certain or _outside(short, both[0])


def _outside(alone: Array, padded: Array) -> list[Pad]:
    """The numbers that a row has beyond so many as it has alone, on each side where all are the same."""
    if alone.ndim != padded.ndim or alone.shape == padded.shape or any(map(int.__gt__, alone.shape, padded.shape)):
        return []
    found = []
    for left in (False, True):
        outside = np.ones(padded.shape, bool)
        outside[_inside(alone.shape, padded.shape, Pad(0.0, left))] = False
        values = np.unique(padded[outside])
        found += [Pad(float(values[0]), left)] * (len(values) == 1)
    return found


def _on_one_side(found: Mapping[str, list[Pad]]) -> dict[str, Pad]:
    """What each array is padded with: where both sides may be, from the side of those where only one may."""
    clear = {name: pads[0] for name, pads in found.items() if len(set(pads)) == 1}
    left = any(pad.left for pad in clear.values())
    return clear | {
        name: Pad(pads[0].value, left)
        for name, pads in found.items()
        if name not in clear and len({pad.value for pad in pads}) == 1
    }


# What padding changes.


def _largest_change(
    before: Rows, after: Rows, model: nn.Module, objective: Objective, schedule: npt.NDArray[np.int64]
) -> float:
    """The largest change of the loss of a batch, relative to it, among those that grow most; infinite if unknown."""
    one, other = before.forms, after.forms
    assert one is not None
    assert other is not None
    firsts: dict[int, tuple[float, int, int]] = {}
    for step, (combination, new) in enumerate(zip(one.steps, other.steps, strict=True)):
        for place, (kind, padded) in enumerate(zip(combination, new, strict=True)):
            grown = _size(other, padded) / max(_size(one, kind), 1)
            if kind not in firsts and grown > 1:
                firsts[kind] = (grown, step, place)
    tried = sorted(firsts.values(), reverse=True)[:_TRIED]
    with _evaluating(model), generators_kept(), torch.no_grad():
        try:
            changes = []
            for _, step, place in tried:
                was, now = (_loss(model, objective, rows, schedule[step], step, place) for rows in (before, after))
                changes.append(abs(now - was) / max(abs(was), 1e-6))
            return max(changes) if all(map(math.isfinite, changes)) else math.inf
        except BaseException as error:
            # An objective that cannot be evaluated here proves nothing.
            theirs(error)
            return math.inf


def _size(forms: Forms, kind: int) -> int:
    return sum(math.prod(shape) for shape in forms.kinds[kind].values())


def _loss(
    model: nn.Module, objective: Objective, rows: Rows, schedule: npt.NDArray[np.int64], step: int, place: int
) -> float:
    assert rows.forms is not None
    batch = {name: torch.from_numpy(array[schedule]) for name, array in rows.arrays.items()}
    given: Mapping[str, Tensor] = rows.forms.cut(batch, rows.forms.steps[step], place)
    loss = objective(model, rows.batch(given))
    return float(loss[0]) / float(loss[1]) if isinstance(loss, tuple) else float(loss)


@contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    """Have a model in evaluation mode, and leave it as it was."""
    kept = Snapshot(model)
    try:
        model.eval()
        yield
    finally:
        kept.restore()

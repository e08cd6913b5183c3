"""The numbers of all steps of an optimizer: what learning rates, counts of steps and warm-ups make of its settings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import Tensor

from counterfoil.program.update.beginnings import Beginning, beginning_of
from counterfoil.program.update.calls import Call, Number, StepCalls
from counterfoil.program.update.replay import takes_reciprocal
from counterfoil.program.update.twinsteps import Stepper, owners
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import DataError

_TOLD_EVERY = 16
"""Steps between two reports."""


@dataclass(frozen=True)
class Foretold:
    """The numbers of a step's operators, in every step."""

    names: tuple[str, ...]  #: Names of those that change.
    values: npt.NDArray[np.float64]  #: float64 ``[steps, names]``.
    #: For each of them, by its place in the step and whether it is the reciprocal, its name or its value.
    places: Mapping[tuple[int, bool], str | float]


def foretell(
    stepper_of: Callable[[Sequence[str]], Stepper],
    parameters: Mapping[str, tuple[int, Tensor]],
    beginning: Beginning,
    later: StepCalls,
    steps: int,
    cancel: CancelToken | None,
) -> Generator[tuple[int, int], None, Foretold]:
    """Make all steps, and yield how many are done and their number.

    Args:
        stepper_of: Makes a new twin in which parameters of these names have gradients.
        parameters: For each parameter the number of its group, and itself.
        beginning: What the first step is.
        later: What the second one computes with all parameters.
        steps: How many to make.
        cancel: Looked at between steps.

    Raises:
        ProgramError: A step is another program.
        DataError: A number that changes is infinite or none at all.
        CancelledError: ``cancel`` was set.
    """
    whose = owners(later)
    chosen = _alike(parameters, later, whose) if whose is not None else {name: name for name in parameters}
    names = sorted(set(chosen.values()), key=list(parameters).index)
    stepper = stepper_of(names)
    first, second = stepper.first_two()
    begun = beginning_of(first, second)
    columns = _columns(chosen, later, whose, second)
    known = beginning.numbers
    fits = columns is not None and all(
        second.numbers[column] == later.numbers[place] and begun.numbers[column] == known[place]
        for place, column in enumerate(columns)
    )
    if columns is None or not fits:
        if len(names) == len(parameters):
            columns = list(range(len(later.numbers)))
        else:
            stepper = stepper_of(list(parameters))
            first, second = stepper.first_two()
            begun, columns = beginning_of(first, second), list(range(len(later.numbers)))
    ones = [two if one is None else one for one, two in zip(begun.numbers, second.numbers, strict=True)]
    rows = [ones, second.numbers][:steps]
    while len(rows) < steps:
        if cancel is not None:
            cancel.check()
        rows.append(stepper.follow(second))
        if len(rows) % _TOLD_EVERY == 0:
            yield len(rows), steps
    table = np.array(rows, np.float64).reshape(steps, len(second.numbers))
    return _foretold(table, columns, later.calls)


def _alike(parameters: Mapping[str, tuple[int, Tensor]], later: StepCalls, whose: Mapping[int, str]) -> dict[str, str]:
    """For each parameter the first one that is treated as it is."""
    treated: dict[str, list[object]] = defaultdict(list)
    for place, call in enumerate(later.calls):
        owner = whose.get(place, "")
        treated[owner].append((str(call.func), *(later.numbers[number.place] for number in call.numbers)))
    found: dict[object, str] = {}
    return {
        name: found.setdefault((group, tuple(tensor.shape), tuple(treated[name])), name)
        for name, (group, tensor) in parameters.items()
    }


def _columns(
    chosen: Mapping[str, str], later: StepCalls, whose: Mapping[int, str] | None, second: StepCalls
) -> list[int] | None:
    """For each number of the step its place among those of the chosen parameters; None where that is not known."""
    others = owners(second)
    if whose is None or others is None:
        return None
    mine, theirs = _numbers(later.calls, whose), _numbers(second.calls, others)
    if None in mine or None in theirs:
        return None
    columns = [0] * len(later.numbers)
    for name, places in mine.items():
        given = theirs[chosen[str(name)]]
        if len(given) != len(places):
            return None
        for place, column in zip(places, given, strict=True):
            columns[place] = column
    return columns


def _numbers(calls: Sequence[Call], whose: Mapping[int, str]) -> dict[str | None, list[int]]:
    found: dict[str | None, list[int]] = defaultdict(list)
    for place, call in enumerate(calls):
        if call.numbers:
            found[whose.get(place)] += [number.place for number in call.numbers]
    return found


def _foretold(table: npt.NDArray[np.float64], columns: Sequence[int], calls: Sequence[Call]) -> Foretold:
    names: dict[bytes, str] = {}
    values: list[npt.NDArray[np.float64]] = []
    places: dict[tuple[int, bool], str | float] = {}
    for call in calls:
        for number in call.numbers:
            column, reciprocal = table[:, columns[number.place]], takes_reciprocal(call, number)
            if np.all(column == column[0]) or np.all(np.isnan(column)):
                places[number.place, False] = float(column[0])
                continue
            with np.errstate(divide="ignore"):
                column = 1.0 / column if reciprocal else column
            _check_finite(column, call, number)
            key = column.tobytes()
            if key not in names:
                names[key] = f"{call.kind.strip('_')}.{len(names) + 1}"
                values.append(column)
            places[number.place, reciprocal] = names[key]
    listed = np.stack(values, axis=1) if values else np.zeros((len(table), 0))
    return Foretold(tuple(names.values()), listed, places)


def _check_finite(column: npt.NDArray[np.float64], call: Call, number: Number) -> None:
    wrong = np.flatnonzero(~np.isfinite(column))
    if wrong.size:
        raise DataError(
            f"The optimizer gives the operator {call.func} a number that is {column[wrong[0]]} in step {wrong[0] + 1}"
            f"{f' ({call.line})' if call.line else ''}.",
            remedy="Correct its settings, or its learning rates.",
        )

"""How what a script's steps brought along lies in an order: data arrays, the rows of each step, per-step scalars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from counterfoil.training.following.rows import Brought, Kind, Pool
from counterfoil_core.base.arrays import Array

_NOTHING = "nothing"
"""The data array of an order whose steps read none."""


@dataclass(frozen=True)
class Made:
    """A step that a script made."""

    variant: int  #: Which of the script's different steps it is.
    brought: tuple[Brought, ...]  #: The tensors that it brought along.
    numbers: tuple[float, ...]  #: The numbers that it used.
    calls: tuple[int, ...]  #: Which call of each optimizer each update is, from 0, in order.
    rates: tuple[tuple[float, ...], ...]  #: The learning rates of each update.


@dataclass(frozen=True)
class Plan:
    """What of the steps of one program varies."""

    #: Which of the tensors that they bring along are read from the data; the others are the same each time.
    varying: tuple[int, ...]
    kinds: tuple[Kind, ...]  #: Dtype and shape of a row of each of these.
    rows: int | None  #: How many rows each has, where all have as many; None where each is one row as a whole.
    #: The names of the per-step scalars that stand for numbers, by the place of the number.
    numbered: Mapping[int, str]

    def combined(self, step: Made) -> list[tuple[int, ...]]:
        """Return which rows of each kind a step reads together, one after the other."""
        brought = [step.brought[place] for place in self.varying]
        if self.rows is None:
            return [tuple(number for item in brought for number in item.rows)]
        return list(zip(*(item.rows for item in brought), strict=True))


def plan_of(steps: Sequence[Made]) -> Plan:
    """Return what varies in the steps of one program."""
    columns = list(zip(*(step.brought for step in steps), strict=True))
    # What only one step brought along may be another one each time.
    varying = [place for place, items in enumerate(columns) if len(steps) == 1 or len(set(items)) > 1]
    chosen = [columns[place][0] for place in varying]
    sizes = {len(item.rows) if item.by_row else None for item in chosen}
    rows = sizes.pop() if len(sizes) == 1 else None
    kinds = tuple(item.kind if rows is not None else (item.kind[0], item.shape) for item in chosen)
    numbers = zip(*(step.numbers for step in steps), strict=True)
    moving = [place for place, values in enumerate(numbers) if len(set(values)) > 1]
    return Plan(tuple(varying), kinds, rows, {place: f"number.{n}" for n, place in enumerate(moving, start=1)})


@dataclass(frozen=True)
class Layout:
    """The data arrays of all programs."""

    width: int  #: Rows that a step reads.
    #: Names of the data arrays, by the kinds of their rows: programs that read alike share them.
    names: Mapping[tuple[Kind, ...], tuple[str, ...]]

    @classmethod
    def of(cls, plans: Sequence[Plan]) -> Layout:
        """Lay out what the steps of some programs read."""
        names: dict[tuple[Kind, ...], tuple[str, ...]] = {}
        count = 0
        for plan in plans:
            if plan.kinds not in names:
                names[plan.kinds] = tuple(f"input.{count + number + 1}" for number in range(len(plan.kinds)))
                count += len(plan.kinds)
        return cls(max((plan.rows or 1 for plan in plans), default=1), names)

    def scheduled(
        self, steps: Sequence[Made], plans: Sequence[Plan], pool: Pool
    ) -> tuple[npt.NDArray[np.int64], dict[str, Array]]:
        """Return which rows each step reads, int64 ``[steps, width]``, and the data arrays by name.

        A step of fewer rows than others is filled up with its first one, which its program leaves out.
        """
        numbers: dict[tuple[Kind, ...], dict[tuple[int, ...], int]] = {kinds: {} for kinds in self.names}
        brought: dict[tuple[Kind, ...], list[tuple[Brought, ...]]] = {kinds: [] for kinds in self.names}
        schedule = np.zeros((len(steps), self.width), np.int64)
        for row, step in zip(schedule, steps, strict=True):
            plan = plans[step.variant]
            known = numbers[plan.kinds]
            found = [known.setdefault(each, len(known)) for each in plan.combined(step)]
            if plan.rows is None and len(known) > len(brought[plan.kinds]):
                brought[plan.kinds].append(tuple(step.brought[place] for place in plan.varying))
            row[:] = (found + found[:1] * self.width)[: self.width]
        longest = max((len(known) for known in numbers.values()), default=1)
        data: dict[str, Array] = {}
        by_row = {plan.kinds: plan.rows is not None for plan in plans}
        for kinds, names in self.names.items():
            for column, (name, kind) in enumerate(zip(names, kinds, strict=True)):
                array = np.zeros((longest, *kind[1]), kind[0])
                if by_row[kinds]:
                    array[: len(numbers[kinds])] = pool.rows(kind, [each[column] for each in numbers[kinds]])
                else:
                    for place, items in enumerate(brought[kinds]):
                        array[place] = pool.tensor(items[column])
                data[name] = array
        return schedule, data or {_NOTHING: np.zeros(1, np.uint8)}

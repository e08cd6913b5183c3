"""The first step of an optimizer as one of the later ones: what its state must be before it.

An optimizer makes its state in its first step. Take away what makes it, and what is left are often the operators of
every later step; then the state before the first step is what was made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import torch
from torch import Tensor

from counterfoil.program.update.calls import GRADIENT, PARAMETER, Call, Number, Ref, StepCalls, leaves_of
from counterfoil.program.update.replay import replay


@dataclass(frozen=True)
class Beginning:
    """How the first step becomes one like the others."""

    first: StepCalls  #: The first step.
    makes: list[Call]  #: Its operators that make state.
    #: What the state is before the step, by name: tensors that those make, or that the step is given. What is not among
    #: them is zero.
    made: Mapping[str, Ref]
    #: For each number of a later step its value in the first one; None where that is not known.
    numbers: list[float | None]
    proven: bool  #: Whether the operators say so; otherwise only trying it can tell.

    def initial(self, name: str, like: Tensor, parameters: Mapping[str, Tensor]) -> Tensor:
        """Return a tensor of the state before the first step.

        Args:
            name: Its name.
            like: A tensor of its shape.
            parameters: The parameters, by name.
        """
        if name not in self.made:
            return torch.zeros(like.shape, dtype=like.dtype)
        roots = {self.first.roots[f"{PARAMETER}{key}"]: value.detach() for key, value in parameters.items()}
        needed = self._needed(self.made[name])
        # Of what else they read, the shape alone counts.
        known = {*roots, *(ref for call in needed for ref in call.results)}
        others = {ref: self.first.described[ref] for call in needed for ref in call.reads if ref not in known}
        roots |= {ref: torch.zeros(tensor.shape, dtype=tensor.dtype) for ref, tensor in others.items()}
        values = replay(needed, roots, lambda number, _: self.first.numbers[number.place])
        return values[self.made[name]].detach().clone().contiguous()

    def _needed(self, ref: Ref) -> list[Call]:
        """Those operators that make a tensor, in order."""
        storages = self.first.storages
        wanted, needed = {storages[ref]}, []
        for call in reversed(self.makes):
            if wanted & {storages[item] for item in (*call.results, *call.written)}:
                wanted |= {storages[item] for item in call.reads}
                needed.append(call)
        return needed[::-1]


def beginning_of(first: StepCalls, later: StepCalls) -> Beginning:
    """Return how the first step becomes one like a later one."""
    found = _Alignment(first, later).run()
    if found is not None:
        return found
    # Another program: whether it computes the same from zeros must be tried.
    numbers: list[float | None] = [None] * len(later.numbers)
    ours, theirs = ([call.kind for call in step.calls] for step in (first, later))
    for block in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            call, like = first.calls[block.a + offset], later.calls[block.b + offset]
            for one, other in zip(call.numbers, like.numbers, strict=False):
                numbers[other.place] = first.numbers[one.place]
    return Beginning(first, [], {}, numbers, proven=False)


class _Alignment:
    def __init__(self, first: StepCalls, later: StepCalls) -> None:
        self._first, self._later = first, later
        self._same: dict[Ref, Ref] = {ref: later.roots[name] for name, ref in first.roots.items()}
        self._slots = {
            ref: name
            for name, ref in later.roots.items()
            if name not in first.roots and not name.startswith((PARAMETER, GRADIENT))
        }
        self._made: dict[str, Ref] = {}
        self._skipped: list[Call] = []
        self._fresh: set[int] = set()
        self._changed: set[int] = set()
        self._given = {first.storages[ref] for ref in first.roots.values()}
        self._parameters = {first.storages[ref] for name, ref in first.roots.items() if name.startswith(PARAMETER)}
        self._numbers: list[float | None] = [None] * len(later.numbers)

    def run(self) -> Beginning | None:
        waiting = iter(_used(self._later))
        expected = next(waiting, None)
        for call in self._first.calls:
            if expected is not None and self._matches(call, expected):
                self._changed |= {self._first.storages[ref] for ref in call.written}
                expected = next(waiting, None)
            elif not self._skip(call):
                return None
        if expected is not None or not self._ends_alike():
            return None
        return Beginning(self._first, self._skipped, self._made, self._numbers, proven=True)

    def _matches(self, call: Call, other: Call) -> bool:
        """Whether an operator of the first step is one of the later; notes what corresponds then."""
        if (
            call.func is not other.func
            or len(call.args) != len(other.args)
            or call.kwargs.keys() != other.kwargs.keys()
        ):
            return False
        pairs: list[tuple[Any, Any]] = list(zip(call.args, other.args, strict=True))
        pairs += [(call.kwargs[name], other.kwargs[name]) for name in call.kwargs]
        found: dict[Ref, Ref] = {}
        numbers: list[tuple[Number, Number]] = []
        for one, two in pairs:
            ours, theirs = list(leaves_of(one)), list(leaves_of(two))
            if len(ours) != len(theirs):
                return False
            for item, wanted in zip(ours, theirs, strict=True):
                if isinstance(item, Number) and isinstance(wanted, Number):
                    numbers.append((item, wanted))
                elif isinstance(item, Ref) and isinstance(wanted, Ref):
                    if (self._same.get(item) or found.get(item)) != wanted and not self._begins(item, wanted):
                        return False
                    found[item] = wanted
                elif item != wanted:
                    return False
        for item, wanted in found.items():
            self._correspond(item, wanted)
        self._same |= dict(zip(call.results, other.results, strict=True))
        for mine, its in numbers:
            self._numbers[its.place] = self._first.numbers[mine.place]
        return True

    def _begins(self, item: Ref, wanted: Ref) -> bool:
        """Whether a tensor of the first step may be what the state is before it."""
        return (
            item not in self._same
            and wanted in self._slots
            and self._made.get(self._slots[wanted], item) == item
            and self._first.storages[item] in self._fresh
        )

    def _correspond(self, item: Ref, wanted: Ref) -> None:
        if item not in self._same:
            self._same[item] = wanted
            self._made[self._slots[wanted]] = item

    def _skip(self, call: Call) -> bool:
        """Whether an operator may be one that makes state: of parameters that are as they were, and of shapes."""
        storages = self._first.storages
        if call.kind not in _OF_SHAPES and any(
            storages[ref] not in self._fresh | (self._parameters - self._changed) for ref in call.reads
        ):
            return False
        if any(storages[ref] not in self._fresh for ref in call.written):
            return False
        self._skipped.append(call)
        self._fresh |= {storages[ref] for ref in call.results} - self._given
        return True

    def _ends_alike(self) -> bool:
        for name, ref in self._later.finals.items():
            mine = self._first.finals.get(name)
            if mine is None:
                return False
            if self._same.get(mine) != ref:
                if not self._begins(mine, ref):
                    return False
                self._correspond(mine, ref)
        return True


def _used(step: StepCalls) -> list[Call]:
    """The operators of a step but those that make what nobody reads, as an initial state that is there already."""
    wanted = {step.storages[ref] for ref in step.finals.values()}
    used = []
    for call in reversed(step.calls):
        if call.written or wanted & {step.storages[ref] for ref in call.results}:
            wanted |= {step.storages[ref] for ref in call.reads}
            used.append(call)
    return used[::-1]


_OF_SHAPES = frozenset(
    {"zeros_like", "ones_like", "full_like", "empty_like", "new_zeros", "new_ones", "new_full", "new_empty"}
)
"""Operators that read no element of the tensor that they are given."""

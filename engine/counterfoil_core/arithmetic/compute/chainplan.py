"""The plan of a step in which chains of elementwise operators are computed together.

A chain (:mod:`counterfoil_core.program.chains`) is one unit of the step. It reads state as it is stored, float32, and
gives new state as it is stored: what nothing but chains reads or makes has no form in the compute dtype. Where a chain
must not be computed together its operators run one after the other, at the same place.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Protocol

from torch import Tensor

from counterfoil_core.arithmetic.compute.plan import Frame, Prepared, Round, Unit
from counterfoil_core.operators.node import Value
from counterfoil_core.program.chains import ON_CPU, SMALLEST, Chain, ChainRules, schedule
from counterfoil_core.program.graph import Program, node_values


class Made(Protocol):
    """What a chain gave; see :class:`counterfoil_core.arithmetic.grid.chains.Made`."""

    @property
    def results(self) -> Sequence[Tensor]:
        """Its results in its order."""

    @property
    def finite(self) -> Sequence[bool | Tensor]:
        """For each result whether it is state as it is stored, and all of it finite."""


RunChain = Callable[[Chain, Sequence[Tensor], Sequence[Tensor | float], Round | None], Made | None]
"""Computes a chain from its operands and scalars; None where its operators must be computed one after the other."""


class ChainUnit:
    """Operators that are computed together; a :class:`Unit`.

    Args:
        chain: The chain.
        prepared: Its operators.
        end: Number of the program's nodes that are done when it is.
        first_used: Inputs of the program that nothing before it takes in the compute dtype.
        dying: Values that nothing after it needs.
        final: Values that are a new state, and that nothing after it needs.
        run: Computes it.
    """

    def __init__(
        self,
        chain: Chain,
        prepared: Sequence[Prepared],
        end: int,
        first_used: tuple[int, ...],
        dying: tuple[int, ...],
        final: tuple[int, ...],
        run: RunChain,
    ) -> None:
        self.end = end
        self.chain = chain
        """What it computes."""
        self._prepared = prepared
        self._ended = _ended(prepared)
        self._first_used = first_used
        self._dying = dying
        self._final = final
        self._run = run

    def advance(self, frame: Frame) -> None:
        """Execute it, as :meth:`Unit.advance`."""
        for number in self._first_used:
            frame.load(number)
        values, chain = frame.values, self.chain
        operands = [frame.given(o.value) if o.dtype == "float32" else values[o.value] for o in chain.operands]
        scalars = [values[one.number] if isinstance(one, Value) else one for one in chain.scalars]
        made = self._run(chain, operands, scalars, frame.rounder)
        if made is None:
            self._one_by_one(frame)
        else:
            for item, tensor, finite in zip(chain.results, made.results, made.finite, strict=True):
                if item.dtype == "float32":
                    frame.keep(item.value, tensor, finite=finite)
                else:
                    values[item.value] = tensor
        for number in self._final:
            frame.store(number)
        for number in self._dying:
            values[number] = None

    def _one_by_one(self, frame: Frame) -> None:
        """Execute its operators; of what they take and give only that lies in full size which is still needed."""
        values, chain = frame.values, self.chain
        lent = {o.value for o in chain.operands if o.dtype == "float32" and values[o.value] is None}
        freed = lent.union(chain.internal, self._dying) - set(self._final)
        stored = {item.value for item in chain.results if item.dtype == "float32"}
        for prepared, ended in zip(self._prepared, self._ended, strict=True):
            prepared.advance(frame)
            for number in ended:
                if number in stored:
                    frame.store(number)
                elif number in freed:
                    values[number] = None


def plan_chains(
    program: Program,
    prepared: Sequence[Prepared],
    run: RunChain,
    smallest: int = SMALLEST,
    rules: ChainRules = ON_CPU,
) -> tuple[Unit, ...]:
    """Return what a step consists of where chains are computed together.

    Args:
        program: The program.
        prepared: Its nodes.
        run: Computes a chain.
        smallest: Elements that a tensor of a chain has at the least.
        rules: What may be a chain.
    """
    plan = schedule(program, smallest, rules)
    units: list[Unit] = []
    for index, node in enumerate(prepared):
        lists = plan.first_used[index], plan.dying[index], plan.final[index]
        if (chain := plan.chains.get(index)) is not None:
            units.append(ChainUnit(chain, _members(chain, prepared), index + 1, *lists, run))
        elif index not in plan.skipped:
            units.append(_with_lists(node, *lists))
    return tuple(units)


def _members(chain: Chain, prepared: Sequence[Prepared]) -> list[Prepared]:
    """The operators of a chain, which load the state that it reads as they come to it."""
    stored = {item.value for item in chain.operands if item.dtype == "float32"}
    members = []
    for index in chain.nodes:
        taken = {value.number for value in node_values(prepared[index].node)}
        members.append(_with_lists(prepared[index], tuple(sorted(taken & stored)), (), ()))
    return members


def _ended(prepared: Sequence[Prepared]) -> list[list[int]]:
    """For each operator of a chain the values, taken and given, that none after it takes."""
    last: dict[int, int] = {}
    for position, member in enumerate(prepared):
        last.update((value.number, position) for value in node_values(member.node))
        last.update((member.node.first_value + output, position) for output in range(len(member.node.outputs)))
    return [[number for number in last if last[number] == position] for position in range(len(prepared))]


def _with_lists(
    prepared: Prepared, first_used: tuple[int, ...], dying: tuple[int, ...], final: tuple[int, ...]
) -> Prepared:
    """A node with other lists of what is loaded before it and freed after it."""
    other = copy.copy(prepared)
    other.first_used, other.dying, other.final = first_used, dying, final
    return other

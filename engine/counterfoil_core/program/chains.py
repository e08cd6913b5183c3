"""Chains: runs of elementwise operators on tensors of one shape, which are computed together, block by block.

On a device operands may be spread over that shape, as torch broadcasts them, and one operator is a chain too.

An optimizer's update is some sixteen operators on tensors of a parameter's size. One after the other each writes a
fresh tensor, which the next reads again; together they read the operands once and write the results once, and whatever
dies inside never exists in full size (:mod:`counterfoil_core.arithmetic.grid.tiles` computes them).

Only operators with one correctly rounded operation an element, or a selection, are taken: their bits do not depend on
who computes them, nor on where in a tensor an element lies (docs/numerics.md, "Operator classes"). A chain runs at the
place of its last operator. Operators of class exact may so be put off; the order of the rounding sites stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any

from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.operators.node import Node, Value
from counterfoil_core.program.elementwise import Expression, expression_of, spread_of, values_in
from counterfoil_core.program.graph import Program, node_values

SMALLEST = 2
"""Elements from which a tensor is worth a chain: of one alone chains make a number that they are told."""


class Code(IntEnum):
    """What an instruction does to each element; ``S`` takes a number in the place of its last operand."""

    WIDEN = 0
    """float32 to float64."""
    TRUTH = 1
    """bool to 0 or 1."""
    FILL = 2
    ADD = 3
    ADD_S = 4
    SUB = 5
    SUB_S = 6
    SUB_FROM_S = 7
    MUL = 8
    MUL_S = 9
    DIV = 10
    DIV_S = 11
    DIV_FROM_S = 12
    SQRT = 13
    NEG = 14
    ABS = 15
    MAX = 16
    MIN = 17
    LT = 18
    LE = 19
    EQ = 20
    NE = 21
    WHERE = 22
    ROUND = 23
    """Round to the grid of a site."""
    WATCH = 24
    """Fingerprint as it is."""
    NARROW = 25
    """float64 to float32, as state is stored."""
    DECIDE = 26
    """0 or 1 to bool."""


@dataclass(frozen=True)
class ChainStep:
    """One step of a chain, for a whole block."""

    code: Code  #: What it does.
    target: int  #: The slot that it writes; never one that it reads. ``WATCH`` writes none.
    first: int = 0  #: The slot that it reads; for ``FILL`` not used.
    second: int = 0  #: A further slot, the number of a scalar, of a site or of a watched value within the chain.
    third: int = 0  #: A further slot.


@dataclass(frozen=True)
class ChainOperand:
    """A tensor that a chain reads or writes whole."""

    value: int  #: The number of the value.
    dtype: str  #: ``float64``; ``float32`` for state as it is stored; ``bool``.
    shape: tuple[int, ...]  #: The chain's; or one that is spread over it, of what is read.
    spread: tuple[int, int]  #: How it is spread (:func:`.program.elementwise.spread_of`).


@dataclass(frozen=True, eq=False)
class Chain:
    """Operators that are computed together; what runs a chain may keep things by it."""

    nodes: tuple[int, ...]  #: Indices of the operators, ascending; the chain runs at the place of the last.
    shape: tuple[int, ...]  #: The shape of every tensor in it, but for operands that are spread over it.
    operands: tuple[ChainOperand, ...]  #: What it reads: the first slots, in this order.
    results: tuple[ChainOperand, ...]  #: What it writes because something outside needs it: the next slots.
    scalars: tuple[float | Value, ...]  #: Numbers, and zero-dimensional floating-point values.
    sites: tuple[int, ...]  #: Numbers of its rounding sites, in order.
    watched: tuple[int, ...]  #: Numbers of the places in it that are fingerprinted and not rounded.
    rounding: tuple[ChainStep, ...]  #: The instructions of a step whose results are rounded and fingerprinted.
    plain: tuple[ChainStep, ...]  #: Those of a step without rounding.
    slots: int  #: Number of slots: operands, results, and those of one block.
    internal: tuple[int, ...]  #: Numbers of the values that exist in a block only.

    @cached_property
    def elements(self) -> int:
        """Elements of its shape."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class ChainRules:
    """What may be a chain, by who computes it."""

    holds: Callable[[Expression], bool] = lambda _: True  #: Whether it may hold what an operator does to each element.
    alone: bool = False  #: Whether one operator is a chain.
    spread: bool = False  #: Whether operands may be spread over its shape.


ON_CPU = ChainRules()
"""Of what the CPU computes block by block."""


@dataclass(frozen=True)
class OperatorSequence:
    """In what order the operators of a program run where chains are computed together."""

    chains: Mapping[int, Chain]  #: The chains, each by the index of its last operator.
    #: For each operator the inputs that it, or the chain that ends with it, is the first to need in the compute dtype;
    #: state that a chain reads, it reads as it is stored.
    first_used: tuple[tuple[int, ...], ...]
    #: For each operator the values that nothing needs when it, or the chain that ends with it, is done.
    dying: tuple[tuple[int, ...], ...]
    #: The same for values that are a new state, but for those that a chain gives as state is stored.
    final: tuple[tuple[int, ...], ...]

    @cached_property
    def skipped(self) -> frozenset[int]:
        """Operators that run with a chain that ends later."""
        return frozenset(index for chain in self.chains.values() for index in chain.nodes[:-1])


def schedule(program: Program, smallest: int = SMALLEST, rules: ChainRules = ON_CPU) -> OperatorSequence:
    """Return which operators of a program run together.

    Args:
        program: The program.
        smallest: Elements that a tensor has at the least.
        rules: What may be a chain.
    """
    links = _Links(program, smallest, rules)
    for index in range(len(program.nodes)):
        links.take(index)
    groups = sorted(tuple(sorted(group.nodes)) for group in links.groups() if rules.alone or len(group.nodes) > 1)
    readers: dict[int, list[int]] = {}
    for index, node in enumerate(program.nodes):
        for value in node_values(node):
            readers.setdefault(value.number, []).append(index)
    kept = {value.number for value in program.results} | {program.loss.number}
    chains = {nodes[-1]: _Assembler(program, nodes, links.expressions, readers, kept).chain() for nodes in groups}
    return OperatorSequence(chains, *_lives(program, chains, readers))


# Which of them run together.


@dataclass(eq=False)
class _Group:
    """Operators that run together so far."""

    nodes: list[int]  #: Their indices.
    shape: tuple[int, ...]  #: The shape of their results.
    phase: str  #: The pass that they belong to: a mask of the forward pass is not put off to the backward pass.
    rounds: bool  #: Whether one of them is rounded.
    closed: bool = False  #: Whether something outside reads a result already, or a rounding site follows.


class _Links:
    """Joins operators whose results the others read, as long as nothing in between has to be computed after them."""

    def __init__(self, program: Program, smallest: int, rules: ChainRules) -> None:
        self._program = program
        self._smallest = smallest
        self._rules = rules
        self._maker: dict[int, _Group] = {}
        """The group that makes a value."""
        self._all: dict[_Group, None] = {}
        self._rounding: list[_Group] = []
        """Groups with a rounding site that may be open."""
        self.expressions: dict[int, Expression] = {}
        """What each operator of a group does to an element."""

    def groups(self) -> list[_Group]:
        """The groups, single operators among them."""
        return list(self._all)

    def take(self, index: int) -> None:
        """Go on to the next operator."""
        node = self._program.nodes[index]
        rounded = node.entry.operator_class is OperatorClass.ROUNDED
        expression = self._eligible(node)
        read = [self._maker[v.number] for v in node_values(node) if v.number in self._maker]
        if expression is None:
            for group in read:
                group.closed = True
            if rounded:
                self._close_rounding()
            return
        shape = node.outputs[0].shape  # type: ignore[union-attr]
        joined = _Group([index], shape, node.phase, rounded)
        for group in dict.fromkeys(read):
            if not group.closed and group.shape == shape and group.phase == node.phase:
                joined.nodes += group.nodes
                joined.rounds |= group.rounds
                del self._all[group]
            else:
                group.closed = True
        for member in joined.nodes:
            self._maker[self._program.nodes[member].first_value] = joined
        if rounded:
            self._close_rounding()
        if joined.rounds:
            self._rounding.append(joined)
        self._all[joined] = None
        self.expressions[index] = expression

    def _eligible(self, node: Node) -> Expression | None:
        described = node.outputs[0] if len(node.outputs) == 1 else None
        # A tensor without axes stands for one number in a chain.
        if described is None or described.shape == () or described.elements < self._smallest:
            return None
        entry = node.entry
        if entry.operator_class is OperatorClass.ROUNDED and entry.scale != "output":
            return None
        found = expression_of(node, self._program.types, spread=self._rules.spread)
        return found if found is not None and self._rules.holds(found) else None

    def _close_rounding(self) -> None:
        """A group with a rounding site takes no operator that comes after a site of another: sites keep their order."""
        for group in self._rounding:
            group.closed = True
        self._rounding.clear()


# What a chain consists of.


@dataclass
class _Listing:
    """Instructions in the making, and the slots of a block that are free."""

    next_slot: int
    instructions: list[ChainStep] = field(default_factory=list)
    free: list[int] = field(default_factory=list)

    def slot(self) -> int:
        if self.free:
            return self.free.pop()
        self.next_slot += 1
        return self.next_slot - 1

    def emit(self, code: Code, target: int, first: int = 0, second: int = 0, third: int = 0) -> int:
        self.instructions.append(ChainStep(code, target, first, second, third))
        return target


class _Assembler:
    """Makes instructions of the operators of one chain."""

    def __init__(
        self,
        program: Program,
        nodes: tuple[int, ...],
        expressions: Mapping[int, Expression],
        readers: Mapping[int, Sequence[int]],
        kept: Iterable[int],
    ) -> None:
        self._program = program
        self._nodes = nodes
        self._expressions = expressions
        described = program.nodes[nodes[0]].outputs[0]
        assert described is not None
        self._shape = described.shape
        members = set(nodes)
        made = [program.nodes[index].first_value for index in nodes]
        kept = set(kept)
        read_outside = {v for v in made if any(index not in members for index in readers.get(v, ()))}
        updated = {value.number for value in program.results} - {program.loss.number}
        others = {item.name for item in program.state_inputs() if not item.type.floating}
        updated -= {value.number for name, value in program.updates.items() if name in others}
        self._results = {
            value: self._described(value, self._result_dtype(value, stored=value in updated - read_outside))
            for value in made
            if value in read_outside or value in kept
        }
        self._internal = tuple(value for value in made if value not in self._results)
        self._operands: dict[int, ChainOperand] = {}
        for index in nodes:
            for value in values_in(expressions[index]):
                if value not in made and program.types[value].shape != ():  # type: ignore[union-attr]
                    self._operands.setdefault(value, self._described(value, self._operand_dtype(value)))
        self._scalars: dict[float | Value, int] = {}
        self._slot_of = {value: n for n, value in enumerate((*self._operands, *self._results))}
        sites = {site.node: number for number, site in enumerate(program.sites)}
        self._sites = tuple(sites[index] for index in nodes if index in sites)
        self._site_of = {index: self._sites.index(sites[index]) for index in nodes if index in sites}
        places = {p.node: number for number, p in enumerate(program.places) if p.site is None and p.node in members}
        self._watched = tuple(places[index] for index in nodes if index in places)
        self._watch_of = {index: self._watched.index(places[index]) for index in nodes if index in places}

    def chain(self) -> Chain:
        rounding, slots = self._assemble(rounded=True)
        plain, others = self._assemble(rounded=False)
        return Chain(
            nodes=self._nodes,
            shape=self._shape,
            operands=tuple(self._operands.values()),
            results=tuple(self._results.values()),
            scalars=tuple(self._scalars),
            sites=self._sites,
            watched=self._watched,
            rounding=rounding,
            plain=plain,
            slots=max(slots, others),
            internal=self._internal,
        )

    def _described(self, value: int, dtype: str) -> ChainOperand:
        described = self._program.types[value]
        assert described is not None
        spread = spread_of(described.shape, self._shape)
        assert spread is not None, "an operand that does not fit has no expression"
        return ChainOperand(value, dtype, described.shape, spread)

    def _operand_dtype(self, value: int) -> str:
        inputs, described = self._program.inputs, self._program.types[value]
        assert described is not None
        if described.dtype == "bool":
            return "bool"
        return "float32" if value < len(inputs) and inputs[value].kind in ("state", "combined") else "float64"

    def _result_dtype(self, value: int, *, stored: bool) -> str:
        described = self._program.types[value]
        assert described is not None
        if described.dtype == "bool":
            return "bool"
        return "float32" if stored else "float64"

    def _assemble(self, *, rounded: bool) -> tuple[tuple[ChainStep, ...], int]:
        """Return the instructions and the number of slots."""
        listing = _Listing(len(self._slot_of))
        last = {}
        for position, index in enumerate(self._nodes):
            for value in (*values_in(self._expressions[index]), self._program.nodes[index].first_value):
                last[value] = position
        held: dict[int, int] = {}
        """The slot that a value lies in, as float64."""
        for position, index in enumerate(self._nodes):
            value = self._program.nodes[index].first_value
            result = self._results.get(value)
            direct = self._slot_of[value] if result is not None and result.dtype == "float64" else None
            rounds = rounded and index in self._site_of
            spare: list[int] = []
            made = self._emit(self._expressions[index], listing, held, spare, None if rounds else direct)
            if rounds:
                spare.append(made)
                made = listing.emit(
                    Code.ROUND, listing.slot() if direct is None else direct, made, self._site_of[index]
                )
            held[value] = made
            if rounded and index in self._watch_of:
                listing.emit(Code.WATCH, made, made, self._watch_of[index])
            if result is not None and result.dtype != "float64":
                code = Code.NARROW if result.dtype == "float32" else Code.DECIDE
                listing.emit(code, self._slot_of[value], made)
            listing.free += spare
            for number in [number for number in held if last[number] == position]:
                slot = held.pop(number)
                if slot >= len(self._slot_of):
                    listing.free.append(slot)
        return tuple(listing.instructions), listing.next_slot

    def _emit(
        self, expression: Expression, listing: _Listing, held: dict[int, int], spare: list[int], target: int | None
    ) -> int:
        """Emit what computes an expression into a slot, the given one if any; ``spare`` collects slots to free."""
        name, *operands = expression
        if name in ("gt", "ge"):
            name, operands = {"gt": "lt", "ge": "le"}[name], operands[::-1]
        if name == "fill":
            return listing.emit(Code.FILL, _or_new(target, listing), 0, self._scalar(operands[0]))
        numbers = [self._is_scalar(operand) for operand in operands]
        if len(operands) == 2 and any(numbers) and not all(numbers) and (name, numbers[0]) in _WITH_NUMBER:
            first, scalar = operands[::-1] if numbers[0] else operands
            slot = self._slot(first, listing, held, spare)
            code = _WITH_NUMBER[name, numbers[0]]
            return listing.emit(code, _or_new(target, listing), slot, self._scalar(scalar))
        slots = [self._slot(operand, listing, held, spare) for operand in operands]
        return listing.emit(_CODES[name], _or_new(target, listing), *slots)

    def _slot(self, operand: Any, listing: _Listing, held: dict[int, int], spare: list[int]) -> int:
        if isinstance(operand, tuple):
            spare.append(self._emit(operand, listing, held, spare, None))
            return spare[-1]
        if self._is_scalar(operand):
            spare.append(listing.emit(Code.FILL, listing.slot(), 0, self._scalar(operand)))
            return spare[-1]
        if operand.number not in held:
            slot, dtype = self._slot_of[operand.number], self._operands[operand.number].dtype
            if dtype != "float64":
                slot = listing.emit(Code.WIDEN if dtype == "float32" else Code.TRUTH, listing.slot(), slot)
            held[operand.number] = slot
        return held[operand.number]

    def _is_scalar(self, operand: Any) -> bool:
        if isinstance(operand, Value):
            described = self._program.types[operand.number]
            return described is not None and described.shape == ()
        return not isinstance(operand, tuple)

    def _scalar(self, operand: Any) -> int:
        # -0.0 and 0.0 are equal as keys and are not the same number.
        key = operand if isinstance(operand, Value) else _Number(operand)
        return self._scalars.setdefault(key, len(self._scalars))


class _Number(float):
    """A number that equals another of the same bits only."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and self.hex() == other.hex()

    def __hash__(self) -> int:
        return hash(self.hex())


def _or_new(target: int | None, listing: _Listing) -> int:
    return listing.slot() if target is None else target


_CODES = {
    "add": Code.ADD, "sub": Code.SUB, "mul": Code.MUL, "div": Code.DIV, "sqrt": Code.SQRT, "neg": Code.NEG,
    "abs": Code.ABS, "max": Code.MAX, "min": Code.MIN, "lt": Code.LT, "le": Code.LE, "eq": Code.EQ, "ne": Code.NE,
    "where": Code.WHERE,
}  # fmt: skip
_WITH_NUMBER = {
    ("add", False): Code.ADD_S,
    ("add", True): Code.ADD_S,
    ("mul", False): Code.MUL_S,
    ("mul", True): Code.MUL_S,
    ("sub", False): Code.SUB_S,
    ("sub", True): Code.SUB_FROM_S,
    ("div", False): Code.DIV_S,
    ("div", True): Code.DIV_FROM_S,
}
"""Instructions that take one number, by operation and whether the number comes first."""


# When values are needed.


def _lives(
    program: Program, chains: Mapping[int, Chain], readers: Mapping[int, Sequence[int]]
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return what each operator, or the chain that ends with it, is the first to need, and what dies or is final."""
    ends = {index: chain.nodes[-1] for chain in chains.values() for index in chain.nodes}
    stored = {item.value for chain in chains.values() for item in chain.operands if item.dtype == "float32"}
    # What exists in a block only, or comes out as it is stored.
    nowhere = {value for chain in chains.values() for value in chain.internal}
    nowhere |= {item.value for chain in chains.values() for item in chain.results if item.dtype == "float32"}
    needed: dict[int, list[int]] = {}
    for index, node in enumerate(program.nodes):
        for position in range(len(node.outputs)):
            needed[node.first_value + position] = [ends.get(index, index)]
    for value, indices in readers.items():
        together = [ends.get(index, index) for index in indices if value not in stored or index not in ends]
        if together:
            needed.setdefault(value, []).extend(together)
    updated = {value.number for value in program.results} - {program.loss.number}
    first_used: list[list[int]] = [[] for _ in program.nodes]
    dying: list[list[int]] = [[] for _ in program.nodes]
    final: list[list[int]] = [[] for _ in program.nodes]
    for value in sorted(needed.keys() - nowhere):
        if value < len(program.inputs):
            first_used[min(needed[value])].append(value)
        if value in updated:
            final[max(needed[value])].append(value)
        elif value != program.loss.number:
            dying[max(needed[value])].append(value)
    return tuple(tuple(map(tuple, lists)) for lists in (first_used, dying, final))

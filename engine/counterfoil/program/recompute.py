"""Activation checkpointing: a program whose backward pass computes activations again instead of keeping them.

The forward pass is cut into segments. What lies across a cut is kept, and so is the last segment. Whatever else the
backward pass reads is computed again from what is kept, right before it is read: by copies of the operators of the
forward pass, with the same arguments, that stand in the backward pass. The result is a program like any other. All
operators are pure functions of their arguments, random draws of their number, so a copy gives what the first gave
(docs/numerics.md, "Activations computed again").
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from typing import Literal

from counterfoil.program.assembly import alive, assemble, renumber
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import DataError
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.operators.node import Node
from counterfoil_core.program.estimate import estimate, storages, value_bytes
from counterfoil_core.program.graph import Program, node_values
from counterfoil_core.program.limits import Estimate

# Each tensor of the state updated as soon as its gradient is there, so that no gradient waits for the others.


def move_updates_up(program: Program) -> Program:
    """Return the program with the operators of its update moved up, to where what they update from is there.

    The operators are the same, and so are their arguments: only the order in which they run changes. Where every update
    waits for all gradients, as with clipping by their norm, little moves.
    """
    makers: dict[int, int] = {}
    for index, node in enumerate(program.nodes):
        makers.update(dict.fromkeys(range(node.first_value, node.first_value + len(node.outputs)), index))
    ready = _ready(program.nodes, makers)
    places = list(range(len(program.nodes)))
    """For each operator the one outside the update behind which it may run, itself if it is such a one."""
    taken: set[int] = set()
    results = {makers[value.number] for value in program.updates.values() if value.number in makers}
    # What several results are made from, such as a factor of all parameters, is there for the first of them.
    for result in sorted(results, key=lambda index: (ready[index], index)):
        if program.nodes[result].phase == "update":
            mine = _closure(result, program.nodes, makers, taken)
            for index in mine:
                places[index] = ready[result]
            taken |= mine
    wished = sorted(range(len(program.nodes)), key=lambda index: (places[index], index in taken, index))
    order = _topological(wished, program.nodes, makers)
    numbers = {number: number for number in range(len(program.inputs))}
    nodes = [program.nodes[index] for index in order]
    return assemble(nodes, program.inputs, numbers, program.updates, program.loss, program.combined)


def _topological(wished: Sequence[int], nodes: Sequence[Node], makers: dict[int, int]) -> list[int]:
    """Return the operators in the wished order, but for those that another needs earlier: they run just before it."""
    order: list[int] = []
    done: set[int] = set()
    for wish in wished:
        waiting = [wish]
        while waiting:
            index = waiting[-1]
            before = [makers[v.number] for v in node_values(nodes[index]) if v.number in makers]
            missing = sorted({made for made in before if made not in done}, reverse=True)
            waiting += missing
            if not missing:
                waiting.pop()
                if index not in done:
                    done.add(index)
                    order.append(index)
    return order


def _ready(nodes: Sequence[Node], makers: dict[int, int]) -> list[int]:
    """For each operator the last one outside the update that it needs, itself included; -1 for none."""
    ready: list[int] = []
    for index, node in enumerate(nodes):
        before = max((ready[makers[v.number]] for v in node_values(node) if v.number in makers), default=-1)
        ready.append(before if node.phase == "update" else index)
    return ready


def _closure(result: int, nodes: Sequence[Node], makers: dict[int, int], taken: set[int]) -> set[int]:
    """The operators of the update that one needs, itself included, without those that were taken."""
    found: set[int] = set()
    waiting = [result]
    while waiting:
        index = waiting.pop()
        if index not in found and index not in taken and nodes[index].phase == "update":
            found.add(index)
            waiting += [makers[v.number] for v in node_values(nodes[index]) if v.number in makers]
    return found


AUTO: Literal["auto"] = "auto"
Segments = int | Literal["auto"]
"""Into how many segments the forward pass is cut; ``auto`` tries several numbers and takes what needs least memory."""
_TRIED = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
_MOST_SEGMENTS = 1000
_AS_GOOD = 1.02
"""Of programs whose memory differs by no more than this factor the one with the fewest operations is taken."""


@dataclass(frozen=True)
class Recomputed:
    """A program that computes activations again."""

    program: Program  #: The program.
    before: Estimate  #: What a step took before.
    after: Estimate  #: What it takes.


def recompute_activations(
    program: Program, segments: Segments, item_bytes: int, cancel: CancelToken | None = None
) -> Generator[tuple[int, int], None, Recomputed]:
    """Return a program that gives the same from the same, keeps fewer activations and computes them again.

    Each new state tensor is also computed as soon as its gradient is there, where that needs less memory.

    Args:
        program: The program.
        segments: Into how many segments the forward pass (of each micro-batch) is cut. With ``auto`` the program stays
            as it is where none needs less memory.
        item_bytes: Bytes of a floating-point number while it is computed.
        cancel: Looked at between plans.

    Yields:
        How many plans were weighed, and of how many.

    Raises:
        DataError: ``segments`` is neither 2 to 1000 nor ``auto``.
        CancelledError: ``cancel`` was set.
    """
    check_segments(segments)
    before = estimate(program, item_bytes)
    plain = Recomputed(program, before, before)
    planned = _Plan(program, item_bytes)
    found: list[Recomputed] = []
    tried = _TRIED if segments == AUTO else (segments,)
    for number in tried:
        yield len(found), len(tried)
        if cancel is not None:
            cancel.check()
        changed = planned.with_segments(number)
        found.append(Recomputed(changed, before, estimate(changed, item_bytes)))
    best = _best(found)
    prompt = move_updates_up(best.program)
    best = _best([best, Recomputed(prompt, before, estimate(prompt, item_bytes))])
    return plain if segments == AUTO and best.after.bytes >= before.bytes else best


def _best(found: Sequence[Recomputed]) -> Recomputed:
    least = min(each.after.bytes for each in found)
    good = [each for each in found if each.after.bytes <= least * _AS_GOOD]
    return min(good, key=lambda each: (each.after.flops, each.after.bytes))


def check_segments(segments: object) -> None:
    """Check a number of segments; raises DataError."""
    if segments == AUTO or (type(segments) is int and 2 <= segments <= _MOST_SEGMENTS):
        return
    raise DataError(
        f"Activations cannot be recomputed in {segments!r} segments.",
        remedy=f"Give a number of segments, 2 to {_MOST_SEGMENTS}, or 'auto'.",
    )


def count_recomputed(program: Program) -> int:
    """Return how many rounded operators of the backward pass repeat one of the forward pass, on the same values."""
    first: dict[object, Node] = {}
    same = {number: number for number in range(len(program.types))}
    count = 0
    for node in program.nodes:
        if node.phase == "update":
            continue
        named = tuple((key, renumber(item, same)) for key, item in node.kwargs)
        # The text tells 1 from 1.0 and from True.
        arguments = repr((tuple(renumber(item, same) for item in node.args), named))
        known = first.setdefault((node.operator, arguments, node.outputs), node)
        if known is not node:
            for position in range(len(node.outputs)):
                same[node.first_value + position] = same[known.first_value + position]
            rounded = node.entry.operator_class is OperatorClass.ROUNDED
            count += rounded and (known.phase, node.phase) == ("forward", "backward")
    return count


@dataclass(frozen=True)
class _Pass:
    """A forward pass and its backward pass, as ranges of nodes: one for each micro-batch."""

    forward: range
    backward: range


def _passes(nodes: Sequence[Node]) -> Iterator[_Pass]:
    start, forward = 0, range(0)
    for phase, group in groupby(node.phase for node in nodes):
        found = range(start, start + len(list(group)))
        start = found.stop
        if phase == "forward":
            forward = found
        elif phase == "backward" and forward:
            yield _Pass(forward, found)
            forward = range(0)


class _Plan:
    """What lives how long in a program, and where its forward passes may be cut.

    Args:
        program: The program.
        item_bytes: Bytes of a floating-point number while it is computed.
    """

    def __init__(self, program: Program, item_bytes: int) -> None:
        self._program = program
        self._storages = storages(program)
        self._bytes = [value_bytes(described, item_bytes) for described in program.types]
        self._makers = [-1] * len(program.inputs)
        """Index of the node that makes a value; -1 for inputs."""
        for index, node in enumerate(program.nodes):
            self._makers += [index] * len(node.outputs)
        self._users: dict[int, list[int]] = {}
        """Indices of the nodes that read memory, in order, by the number that it has; results are read at the end."""
        for index, node in enumerate(program.nodes):
            for value in node_values(node):
                self._users.setdefault(self._storages[value.number], []).append(index)
        for value in (*program.results, program.loss):
            self._users.setdefault(self._storages[value.number], []).append(len(program.nodes))
        self._forwards = [_Forward(found, self._lives(found)) for found in _passes(program.nodes)]

    def _lives(self, found: _Pass) -> list[_Life]:
        """The memory that a forward pass fills."""
        lives = []
        for storage, users in self._users.items():
            made = self._makers[storage]
            if made in found.forward:
                ahead = [index for index in users if index in found.forward]
                back = any(index in found.backward for index in users)
                last = users[-1] if users[-1] < found.backward.stop else None
                lives.append(_Life(storage, self._bytes[storage], made, max(ahead, default=made), back, last is None))
        return lives

    def with_segments(self, number: int) -> Program:
        """Return the program with its forward passes cut into so many segments, or fewer where they are too short."""
        nodes = self._program.nodes
        written: list[Node] = []
        copies = _Copies(nodes, self._makers, len(self._program.types))
        done = 0
        for forward in self._forwards:
            kept = forward.kept(forward.cuts(number))
            lost = {life.storage for life in forward.lives if life.storage not in kept}
            written += nodes[done : forward.found.backward.start]
            for index in forward.found.backward:
                written += copies.before(nodes[index], lost, self._storages)
                written.append(copies.renamed(nodes[index]))
            done = forward.found.backward.stop
        written += nodes[done:]
        program = self._program
        numbers = {number: number for number in range(len(program.inputs))}
        used = alive(written, (*program.results, program.loss))
        return assemble(used, program.inputs, numbers, program.updates, program.loss, program.combined)


@dataclass(frozen=True)
class _Life:
    """Memory that a forward pass fills."""

    storage: int  #: Number of the value that fills it.
    bytes: int  #: Its size.
    made: int  #: Index of the node that fills it.
    last: int  #: Index of the last node of the forward pass that reads it.
    saved: bool  #: Whether the backward pass reads it.
    stays: bool  #: Whether it is read behind the backward pass, or is a result.


@dataclass(frozen=True)
class _Forward:
    """A forward pass and the memory that it fills."""

    found: _Pass
    lives: Sequence[_Life]

    def cuts(self, number: int) -> list[int]:
        """Return where it is cut: indices of the nodes that begin a segment, the first one left out.

        Segments hold about as much that the backward pass reads; within reach of that, a cut is where the least lies
        across it.
        """
        # Sums along the nodes: what lies across a place is what began before it, less what ended.
        saved = self._summed([(life.made, life.bytes) for life in self.lives if life.saved])
        begins = [(life.made + 1, life.bytes) for life in self.lives if not life.stays]
        ends = [(life.last + 1, -life.bytes) for life in self.lives if not life.stays]
        across = self._summed(begins + ends)
        start, whole = self.found.forward.start, saved[-1]
        chosen = []
        for cut in range(1, number):
            low, high = (2 * cut - 1) * whole / (2 * number), (2 * cut + 1) * whole / (2 * number)
            within = [place for place in range(1, len(saved)) if low <= saved[place - 1] < high]
            if within:
                middle = cut * whole / number
                chosen.append(start + min(within, key=lambda place: (across[place], abs(saved[place - 1] - middle))))
        return sorted(set(chosen))

    def _summed(self, changes: Sequence[tuple[int, int]]) -> list[int]:
        """For each node of the forward pass the sum of what changed up to it; the changes are given by node."""
        by_node = [0] * (len(self.found.forward) + 1)
        for index, change in changes:
            by_node[index - self.found.forward.start] += change
        return list(accumulate(by_node))[:-1]

    def kept(self, cuts: Sequence[int]) -> set[int]:
        """Return the memory that is kept for the backward pass, by the numbers of the values that fill it."""
        if not cuts:
            return {life.storage for life in self.lives}
        return {
            life.storage
            for life in self.lives
            if life.stays or life.made >= cuts[-1] or any(life.made < cut <= life.last for cut in cuts)
        }


class _Copies:
    """Copies of operators of the forward pass among those of the backward pass.

    Args:
        nodes: The program's operators.
        makers: Index of the operator that makes each value; -1 for inputs.
        following: The number that the first new value gets.
    """

    def __init__(self, nodes: Sequence[Node], makers: Sequence[int], following: int) -> None:
        self._nodes = nodes
        self._makers = makers
        self._following = following
        self._numbers: dict[int, int] = {number: number for number in range(following)}
        """The number of the copy of a value, where it has one."""
        self._copied: set[int] = set()

    def before(self, node: Node, lost: Collection[int], shared: Sequence[int]) -> list[Node]:
        """Return the copies that must stand before an operator of the backward pass.

        Args:
            node: The operator.
            lost: The memory that is not kept, by the numbers of the values that fill it.
            shared: For each value the number of that which fills its memory.
        """
        # Backwards from the operator to what is kept; an operator's copy stands in for all later readers.
        needed: set[int] = set()
        waiting = [node]
        while waiting:
            for value in node_values(waiting.pop()):
                maker = self._makers[value.number]
                if shared[value.number] in lost and maker not in needed and maker not in self._copied:
                    needed.add(maker)
                    waiting.append(self._nodes[maker])
        made = []
        for index in sorted(needed):
            copied = self.renamed(self._nodes[index])
            for position in range(len(copied.outputs)):
                # Of an operator with several results some may be kept, such as running statistics: nobody needs others.
                if shared[copied.first_value + position] in lost:
                    self._numbers[copied.first_value + position] = self._following + position
            made.append(replace(copied, first_value=self._following, phase="backward"))
            self._following += len(copied.outputs)
        self._copied |= needed
        return made

    def renamed(self, node: Node) -> Node:
        """Return an operator that reads copies where there are some."""
        args = tuple(renumber(item, self._numbers) for item in node.args)
        return replace(node, args=args, kwargs=tuple((key, renumber(item, self._numbers)) for key, item in node.kwargs))

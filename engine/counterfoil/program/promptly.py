"""Each tensor of the state updated as soon as its gradient is there, so that no gradient waits for the others."""

from __future__ import annotations

from collections.abc import Sequence

from counterfoil.program.assembly import assembled
from counterfoil_core.operators.node import Node
from counterfoil_core.program.graph import Program, node_values


def updating_promptly(program: Program) -> Program:
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
    return assembled(nodes, program.inputs, numbers, program.updates, program.loss, program.combined)


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

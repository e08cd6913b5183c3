"""Where the gradients of a program are: what the backward pass gives, and the optimizer reads or a share hands on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.operators.node import Node, Value
from counterfoil_core.program.graph import GRADIENT, Program, node_values


@dataclass(frozen=True)
class Gradient:
    """One gradient that the optimizer reads, or that a share of a step gives."""

    value: int  #: Number of its value in the program.
    parameter: str  #: Name of the state tensor that it changes; empty where that is not one alone.
    where: str  #: The operator that gives it, in words.
    sites: tuple[int, ...]  #: Numbers of the rounding sites that it comes from through views and exact operators.
    #: First value of the first node of the update that has it as an argument; None where a share gives it.
    reader: int | None


def gradients(program: Program) -> tuple[Gradient, ...]:
    """Return the gradients of a program: floating-point values of a pass before the update that the update reads.

    Those of a gradient program are what it gives as such; an update program has none.
    """
    givers = {n.first_value + k: n for n in program.nodes for k in range(len(n.outputs))}
    sites = {program.nodes[s.node].first_value + s.output: number for number, s in enumerate(program.sites)}
    readers: dict[int, int] = {}
    for node in program.nodes:
        for argument in node.args if node.phase == "update" else ():
            if isinstance(argument, Value) and _is_given(program, givers.get(argument.number), argument.number):
                readers.setdefault(argument.number, node.first_value)
    found: list[tuple[int, str, int | None]] = [
        (number, _parameter(program, number), reader) for number, reader in sorted(readers.items())
    ]
    found += [
        (value.number, name.removeprefix(GRADIENT), None)
        for name, value in sorted(program.combined.items())
        if name.startswith(GRADIENT) and value.number in givers
    ]
    return tuple(
        Gradient(number, parameter, givers[number].where, _sites(givers, number, sites), reader)
        for number, parameter, reader in found
    )


def passes_of(program: Program, found: Sequence[Gradient]) -> Program:
    """Return the part of a program that gives its loss and some of its gradients, without what comes after them.

    It leaves the state as it is, and gives the gradients as values to be combined, each named after its number. The
    numbers of values and of sites are those of the program.

    Args:
        program: The program.
        found: Gradients of it.
    """
    last = max([program.loss.number, *(gradient.value for gradient in found)])
    nodes = sum(node.first_value <= last for node in program.nodes)
    given = {str(gradient.value): Value(gradient.value) for gradient in found}
    return Program(program.inputs, program.nodes[:nodes], {}, program.loss, given)


def _is_given(program: Program, giver: Node | None, number: int) -> bool:
    described = program.types[number]
    return giver is not None and giver.phase != "update" and described is not None and described.floating


def _sites(givers: Mapping[int, Node], number: int, sites: Mapping[int, int]) -> tuple[int, ...]:
    """Follow a value back through operators that are not rounded."""
    found: set[int] = set()
    seen: set[int] = set()
    waiting = [number]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        if current in sites:
            found.add(sites[current])
        elif current in givers and givers[current].entry.operator_class is not OperatorClass.ROUNDED:
            waiting.extend(value.number for value in node_values(givers[current]))
    return tuple(sorted(found))


def _parameter(program: Program, number: int) -> str:
    """Follow a gradient on through values of its own shape to the state tensors that it changes."""
    shape = program.types[number]
    reached = {number}
    for node in program.nodes:
        if node.phase == "update" and any(value.number in reached for value in node_values(node)):
            reached.update(node.first_value + k for k, output in enumerate(node.outputs) if output == shape)
    # Slots of the optimizer are named slot:parameter.
    names = [name for name, value in program.updates.items() if value.number in reached and ":" not in name]
    return names[0] if len(names) == 1 else ""

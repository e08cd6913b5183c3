"""Programs put together from lists of operators: what nobody uses is dropped, and values are numbered without gaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from counterfoil_core.operators.node import Argument, Node, Value
from counterfoil_core.program.graph import Input, Program, node_values


def alive(nodes: Sequence[Node], results: Iterable[Value]) -> list[Node]:
    """Drop operators whose outputs nobody uses.

    Args:
        nodes: The operators in their order.
        results: The values that the step gives: new state, loss, what is combined.

    Returns:
        Those of which an output is used, by one that is kept or as a result; in their order.
    """
    needed = {value.number for value in results}
    kept: list[Node] = []
    for node in reversed(nodes):
        numbers = range(node.first_value, node.first_value + len(node.outputs))
        if any(number in needed for number in numbers):
            kept.append(node)
            needed.update(value.number for value in node_values(node))
    return kept[::-1]


def assemble(
    nodes: Sequence[Node],
    inputs: tuple[Input, ...],
    input_numbers: Mapping[int, int],
    updates: Mapping[str, Value],
    loss: Value,
    combined: Mapping[str, Value] | None = None,
) -> Program:
    """Put a program together.

    Args:
        nodes: The operators in the order in which they run; the numbers of their values may have gaps and any order.
        inputs: The inputs.
        input_numbers: Number of each input's value by the number that the operators know it by.
        updates: Value of the new state by name.
        loss: Value of the loss.
        combined: Of a gradient program the values that are combined, by name.

    Returns:
        The program, its values numbered from 0 without gaps.
    """
    numbers = dict(input_numbers)
    following = len(inputs)
    result = []
    for node in nodes:
        args = tuple(renumber(item, numbers) for item in node.args)
        kwargs = tuple((key, renumber(item, numbers)) for key, item in node.kwargs)
        for position in range(len(node.outputs)):
            numbers[node.first_value + position] = following + position
        result.append(Node(node.operator, args, kwargs, node.outputs, following, node.module, node.phase))
        following += len(node.outputs)

    def named(values: Mapping[str, Value]) -> dict[str, Value]:
        return {name: Value(numbers[value.number]) for name, value in values.items()}

    return Program(inputs, tuple(result), named(updates), Value(numbers[loss.number]), named(combined or {}))


def renumber(argument: Argument, numbers: Mapping[int, int]) -> Argument:
    """Return an argument with other numbers of values; raises KeyError where a value has none."""
    if isinstance(argument, Value):
        return Value(numbers[argument.number])
    if isinstance(argument, tuple):
        return tuple(renumber(item, numbers) for item in argument)
    return argument

"""Arguments that a function of the library does not look at before it reads or writes beside a tensor.

Found by random programs under a C library that watches its heap. A stranger's program may hold any arguments whose
types fit; what an honest model never has is refused before anything is computed.
"""

from __future__ import annotations

from collections.abc import Sequence

from counterfoil_core.base.errors import ProgramError
from counterfoil_core.base.sentence import say
from counterfoil_core.operators.node import Argument, Node, TensorType, Value
from counterfoil_core.program.graph import Program


def check_guarded(program: Program) -> None:
    """Refuse uses of operators that the library does not guard; lengths must have been found to fit.

    Raises:
        ProgramError: A pooling has an operand without elements; or a padding that repeats elements is negative or,
            where it reflects them, not below the length of its axis; or a gradient of either has another shape.
    """
    for node in program.nodes:
        kind = node.entry.kind
        if "pool" in kind:
            _check_pooling(node, program.types)
        elif kind.startswith(("reflection_pad", "replication_pad")):
            _check_padding(node, program.types, reflects=kind.startswith("reflection"))


def _arguments(node: Node) -> list[Argument]:
    return [*node.args, *(argument for _, argument in node.kwargs)]


def _tensors(node: Node, types: Sequence[TensorType | None]) -> list[TensorType]:
    found = (types[argument.number] for argument in _arguments(node) if isinstance(argument, Value))
    return [item for item in found if item is not None]


def _check_pooling(node: Node, types: Sequence[TensorType | None]) -> None:
    tensors = _tensors(node, types)
    if any(item.elements == 0 for item in tensors):
        raise ProgramError(say("The operator {0} pools a tensor without elements.", node.where))
    if not node.entry.kind.endswith("backward"):
        return
    gradient, pooled, *places = (item.shape for item in tensors)
    axes = next((axes for axes in (1, 2, 3) if f"{axes}d" in node.entry.kind), 0)
    samples = len(pooled) - axes
    if len(gradient) != len(pooled) or gradient[:samples] != pooled[:samples] or any(s != gradient for s in places):
        raise _unfit(node, gradient, pooled)


def _check_padding(node: Node, types: Sequence[TensorType | None], *, reflects: bool) -> None:
    # Of a gradient the operand that was padded is the last tensor.
    tensors = _tensors(node, types)
    shape = tensors[-1].shape
    padded = list(shape)
    for place, length in enumerate(_padding(node)):
        axis = len(shape) - 1 - place // 2
        highest = shape[axis] - 1 if axis >= 0 else -1
        if not isinstance(length, int) or length < 0 or (reflects and length > highest) or highest < 0:
            raise ProgramError(
                say("The operator {0} pads an axis of length {1} by {2}.", node.where, highest + 1, str(length))
            )
        padded[axis] += length
    if len(tensors) > 1 and tensors[0].shape != tuple(padded):
        raise _unfit(node, tensors[0].shape, tuple(padded))


def _unfit(node: Node, gradient: tuple[int, ...], other: tuple[int, ...]) -> ProgramError:
    found, wanted = (" x ".join(map(str, shape)) for shape in (gradient, other))
    return ProgramError(say("The operator {0} takes a gradient of the shape {1} for {2}.", node.where, found, wanted))


def _padding(node: Node) -> Sequence[Argument]:
    for argument in _arguments(node):
        if isinstance(argument, (list, tuple)):
            return argument
    return ()

"""Estimates what a step of a program takes from its declared shapes, without running anything.

The shapes may be lies: :func:`counterfoil_core.arithmetic.admission.check_types` finds those
afterwards. So nothing here fails on a shape that does not fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.dtypes import ITEM_BYTES
from counterfoil_core.operators.facts import OperatorClass, Trait
from counterfoil_core.operators.node import Argument, Node, TensorType, Value
from counterfoil_core.program.graph import Program, node_values
from counterfoil_core.program.limits import Estimate
from counterfoil_core.program.workspaces import workspace


def estimate(
    program: Program, item_bytes: int = 8, cancel: CancelToken | None = None, exact_bits: int | None = None
) -> Estimate:
    """Estimate what a step takes.

    Args:
        program: The program; its arguments were checked against the signatures.
        item_bytes: Bytes of a floating-point number while it is computed.
        cancel: Looked at between operators.
        exact_bits: S of an exact profile, whose operators need memory inside; None for one that rounds.

    Raises:
        CancelledError: ``cancel`` was set.
    """
    memory = _Memory(program, item_bytes, cancel, exact_bits=exact_bits)
    return Estimate(
        operators=len(program.nodes),
        tensors=len(program.types),
        bytes=memory.peak,
        flops=sum(node_flops(program.types, node) for node in program.nodes),
        total_bytes=memory.total,
    )


def least_memory(program: Program, item_bytes: int) -> int:
    """Return the bytes that a step needs at the least at its fullest moment.

    Counts the state before and behind the step as it is stored, and the values that are alive at once. Views cost
    nothing, copies of the state to compute with nothing, the update nothing but its results, and what operators need
    inside nothing: an executor may do without.

    Args:
        program: The program.
        item_bytes: Bytes of a floating-point number while it is computed.
    """
    return _Memory(program, item_bytes, None, least=True).peak


def storages(program: Program) -> tuple[int, ...]:
    """Return for each value the number of the value whose memory it shares: its own, unless it is a view."""
    shared = _Memory(program, 1, None).storage
    return tuple(shared[number] for number in range(len(program.types)))


def value_bytes(described: TensorType | None, item_bytes: int) -> int:
    """Return the bytes of a value, with ``item_bytes`` to a floating-point number."""
    if described is None:
        return 0
    return described.elements * (item_bytes if described.floating else ITEM_BYTES[described.dtype])


class _Memory:
    """Goes through a program and adds up what is alive; views share the memory of what they show.

    The state and the rows of a step are there as they are stored, from the beginning to the end. What of them is
    floating-point is converted where it is first used; a new state is stored where it was last used.

    Attributes:
        storage: Number of the value whose memory a value shares.
        peak: Bytes at the fullest moment.
        total: Bytes of everything that is computed.
    """

    def __init__(
        self,
        program: Program,
        item_bytes: int,
        cancel: CancelToken | None,
        *,
        least: bool = False,
        exact_bits: int | None = None,
    ) -> None:
        self._item_bytes = item_bytes
        self._least = least
        self._exact_bits = exact_bits
        self._cut: dict[int, int] = {}
        """What the digits of a value take that are kept for its second product, by the number of its storage."""
        self._types = program.types
        self.storage: dict[int, int] = {}
        self._shares: dict[int, int] = {}
        """How many living values share it."""
        self._sizes: dict[int, int] = {}
        self._loose: set[int] = set()
        """Values that are not laid out in C order."""
        self._alive = self.total = sum(map(self._stored, range(len(program.inputs))))
        self.peak = self._alive
        finals = _finals(program)
        for number in range(len(program.inputs)):
            self.storage[number] = number
        for index, node in enumerate(program.nodes):
            if cancel is not None:
                cancel.check()
            for value in node_values(node):
                if value.number < len(program.inputs) and value.number not in self._shares:
                    self._fresh(value.number, 0 if least else self._converted(value.number))
            self._compute(node)
            for number in finals.get(index, ()):
                self._free(number)
                self._alive += self._stored(number)
                self.peak = max(self.peak, self._alive)
            for number in program.last_uses[index]:
                self._free(number)

    def _bytes(self, number: int) -> int:
        return value_bytes(self._types[number], self._item_bytes)

    def _stored(self, number: int) -> int:
        return value_bytes(self._types[number], ITEM_BYTES["float32"])

    def _converted(self, number: int) -> int:
        """What it takes to compute with an input: nothing where that is what is stored."""
        return self._bytes(number) if self._bytes(number) != self._stored(number) else 0

    def _fresh(self, number: int, size: int) -> None:
        self.storage[number], self._shares[number], self._sizes[number] = number, 1, size
        self._alive += size
        self.total += size

    def _compute(self, node: Node) -> None:
        outputs = range(node.first_value, node.first_value + len(node.outputs))
        base = node.args[0] if node.args else None
        # A view shares the memory of what it shows, and keeps it alive.
        shown = base.number if node.entry.operator_class is OperatorClass.VIEW and isinstance(base, Value) else None
        copied = 0
        if shown is None and not self._least:
            copied = sum(self._bytes(value.number) for value in node_values(node) if value.number in self._loose)
        traits = node.entry.traits
        # What is not in C order is copied to get another shape: no view after all.
        if shown is None or (Trait.RESHAPES in traits and shown in self._loose and not self._least):
            free = self._least and node.phase == "update"
            for number in outputs:
                self._fresh(number, 0 if free else self._bytes(number))
        else:
            storage = self.storage[shown]
            self._shares[storage] += len(outputs)
            self.storage.update(dict.fromkeys(outputs, storage))
            if Trait.SAME_ORDER not in traits or shown in self._loose:
                self._loose.update(outputs)
        inside = 0 if self._exact_bits is None else self._compute_exactly(node, self._exact_bits)
        self.peak = max(self.peak, self._alive + copied + inside)

    def _compute_exactly(self, node: Node, bits: int) -> int:
        """Keep the digits that an operator cuts, or let go of those that it takes; returns what it needs inside."""
        needed = workspace(self._types, node, bits)
        taken = 0
        for number, size in needed.kept.items():
            storage = self.storage[number]
            if storage in self._cut:
                taken += self._drop(storage)
            else:
                self._cut[storage] = size
                self._alive += size
        return needed.bytes + taken

    def _drop(self, storage: int) -> int:
        size = self._cut.pop(storage, 0)
        self._alive -= size
        return size

    def _free(self, number: int) -> None:
        storage = self.storage[number]
        self._shares[storage] -= 1
        if not self._shares[storage]:
            self._alive -= self._sizes[storage]
            self._drop(storage)


def _finals(program: Program) -> dict[int, list[int]]:
    """For each operator, by its index, the values of the new state that nothing after it needs."""
    new = {value.number for value in program.results} - {program.loss.number}
    last: dict[int, int] = {}
    for index, node in enumerate(program.nodes):
        used = {value.number for value in node_values(node)}
        for number in new & (used | set(range(node.first_value, node.first_value + len(node.outputs)))):
            last[number] = index
    finals: dict[int, list[int]] = {}
    for number, index in last.items():
        finals.setdefault(index, []).append(number)
    return finals


def node_flops(types: Sequence[TensorType | None], node: Node) -> int:
    """Estimate the floating-point operations of one operator: a multiplication with an addition counts as two."""
    if node.entry.operator_class is OperatorClass.VIEW:
        return 0
    kind = node.operator.split(".")[1]
    shapes = [_shape(types, argument) for argument in node.args]
    made = sum(output.elements for output in node.outputs if output is not None)
    read = max((_elements(shape) for shape in shapes), default=0)
    if kind in _PRODUCTS:
        factor = shapes[_PRODUCTS[kind]] if len(shapes) > _PRODUCTS[kind] else ()
        return 2 * made * (factor[-1] if factor else 1)
    if kind in _CONVOLUTIONS:
        return _convolution(kind, node.args, shapes)
    if kind == "sort":
        return read * max(math.ceil(math.log2(max(read, 1))), 1)
    if "pool" in kind:
        return max(made, read) * math.prod(_lengths(node.args))
    return max(made, read)


def product_flops(program: Program) -> int:
    """Estimate the floating-point operations of a program's matrix products and convolutions alone."""
    return sum(node_flops(program.types, node) for node in program.nodes if _is_product(node))


def _is_product(node: Node) -> bool:
    kind = node.operator.split(".")[1]
    return kind in _PRODUCTS or kind in _CONVOLUTIONS


_CONVOLUTIONS = ("convolution", "convolution_backward")
_PRODUCTS = {"mm": 0, "mv": 0, "bmm": 0, "dot": 0, "addmm": 1, "addmv": 1, "baddbmm": 1}
"""Matrix products, and the position of the factor whose last axis is summed."""


def _convolution(kind: str, args: Sequence[Argument], shapes: Sequence[tuple[int, ...]]) -> int:
    """Each output of a convolution takes one kernel; each input of a transposed one does."""
    backward = kind == "convolution_backward"
    over, weight = (shapes[0], shapes[2]) if backward else (_convolved(args, shapes), shapes[1])
    if backward and len(args) > 7 and args[7] is True:
        over = shapes[1]
    kernel = _elements(weight) // max(weight[0] if weight else 1, 1)
    # The backward pass gives the input's gradient, the weight's, or both, as its mask says.
    mask = args[10] if backward and len(args) > 10 else (True, True)
    wanted = sum(each is True for each in mask[:2]) if backward and isinstance(mask, tuple) else 1
    return 2 * wanted * _elements(over) * kernel


def _convolved(args: Sequence[Argument], shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Shape of the output of a convolution as far as it counts kernels; of a transposed one the input's."""
    x, weight = shapes[0], shapes[1]
    if len(args) < 9 or args[6] is True or len(x) < 3 or len(weight) != len(x):
        return x
    spatial = len(x) - 2
    stride, padding, dilation = (_each(args[position], spatial) for position in (3, 4, 5))
    lengths = [
        max((n + 2 * p - d * (k - 1) - 1) // max(s, 1) + 1, 0)
        for n, k, s, p, d in zip(x[2:], weight[2:], stride, padding, dilation, strict=True)
    ]
    return (x[0], weight[0], *lengths)


def _each(argument: Argument, axes: int) -> list[int]:
    given = [item for item in argument if isinstance(item, int)] if isinstance(argument, tuple) else []
    return given if len(given) == axes else (given[:1] or [1]) * axes


def _lengths(args: Sequence[Argument]) -> list[int]:
    """The first list of integers among arguments: the window of a pooling operator."""
    for argument in args:
        if isinstance(argument, tuple):
            return [item for item in argument if isinstance(item, int) and item > 0]
    return []


def _shape(types: Sequence[TensorType | None], argument: Argument) -> tuple[int, ...]:
    described = types[argument.number] if isinstance(argument, Value) else None
    return () if described is None else described.shape


def _elements(shape: Sequence[int]) -> int:
    return math.prod(shape)

"""How a step applies a LoRA adapter, read from the order's program: W x + s B (A x) (Hu et al. 2021, section 4.1).

Weights may be merged, W + s B A, only where the model computes the same function with the merged weight in place of the
three. So the whole way is followed, from what A reads to the sum with W's product: views, dropout (the identity when a
model is used), and one factor. Whatever else stands on it, or reads one of the three, is no such use.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from counterfoil_core.operators.node import Node, Value
from counterfoil_core.program.graph import Program, node_values

_VIEWS = {
    f"aten.{name}.default" for name in ("view", "_unsafe_view", "reshape", "alias", "clone", "detach", "expand")
} | {"aten._to_copy.default", "aten.unsqueeze.default", "aten.squeeze.default", "aten.squeeze.dim", "aten.squeeze.dims"}
"""Operators that give their first argument's elements in the same order, as far as the axes that matter stay."""
_PRODUCTS = {"aten.mm.default", "aten.bmm.default", "aten.matmul.default"}
_WITH_BIAS = {"aten.addmm.default", "aten.baddbmm.default"}
_TIMES = {"aten.mul.Tensor", "aten.mul.Scalar"}
_SUM = "aten.add.Tensor"


@dataclass(frozen=True)
class AdapterUse:
    """How a step applies an adapter."""

    scale: float  #: The factor s.
    #: Which of W, A and B are read as they lie, ``x @ W``, and not transposed as a linear layer does.
    turned: tuple[bool, bool, bool]


@dataclass(frozen=True)
class _Product:
    """A product of which a state tensor is the right factor; whether that is read as it lies."""

    node: Node
    as_it_lies: bool

    @property
    def left(self) -> int:
        """Number of the left factor."""
        factor = self.node.args[1 if self.node.operator in _WITH_BIAS else 0]
        assert isinstance(factor, Value)
        return factor.number

    @property
    def plain(self) -> bool:
        """Whether it is the product and nothing beside."""
        return self.node.operator in _PRODUCTS

    @property
    def unscaled(self) -> bool:
        """Whether a sum with a bias has it as it is."""
        return dict(self.node.kwargs).get("alpha", 1) == 1


class ForwardPass:
    """The forward pass of a program, from values to their users and back to what made them."""

    def __init__(self, program: Program) -> None:
        """Take the forward pass out of a program."""
        self._states = {item.name: number for number, item in enumerate(program.inputs) if item.kind == "state"}
        self._types = program.types
        self._made = {node.first_value: node for node in program.nodes if node.phase == "forward"}
        self._users: dict[int, list[Node]] = {}
        for node in self._made.values():
            for number in {value.number for value in node_values(node)}:
                self._users.setdefault(number, []).append(node)

    def reads_any(self, names: Iterable[str]) -> bool:
        """Whether it uses one of these state tensors; another program may train them, or none."""
        return any(self._taken(self._states[name]) for name in names if name in self._states)

    def find_use(self, names: tuple[str, str, str]) -> AdapterUse | None:
        """Return how it applies an adapter; None where it is anything else than W x + s B (A x) throughout.

        Args:
            names: The state tensors W, A and B.
        """
        if not self._states.keys() >= set(names):
            return None
        base, down, up = (self._products(self._states[name]) for name in names)
        if base is None or down is None or not up or not len(base) == len(down) == len(up):
            return None
        uses, met = set(), set()
        for last in up:
            if (followed := self._follow(base, down, last)) is None:
                return None
            use, *parts = followed
            uses.add(use)
            met |= {part.node.first_value for part in parts}
        # They agree, and each product of W and of A belongs to exactly one of B's.
        return uses.pop() if len(uses) == 1 and len(met) == len(base) + len(down) else None

    def _follow(
        self, base: list[_Product], down: list[_Product], last: _Product
    ) -> tuple[AdapterUse, _Product, _Product] | None:
        """Follow one use from B's product back to what A reads, and on to the sum with W's product."""
        factors: list[float] = []
        inner = self._back(last.left, factors)
        first = next((one for one in down if one.plain and one.node.first_value == inner), None)
        other = self._other_summand(last.node.first_value, factors)
        if not last.plain or first is None or other is None:
            return None
        wide = self._summand(other, {one.node.first_value: one for one in base if one.unscaled})
        if wide is None or not self._same_input(first.left, wide.left, factors):
            return None
        if len(factors) > 1 or not all(map(math.isfinite, factors)):
            return None
        turned = (wide.as_it_lies, first.as_it_lies, last.as_it_lies)
        return AdapterUse(factors[0] if factors else 1.0, turned), wide, first

    def _taken(self, number: int) -> list[Node]:
        """The nodes that take a value."""
        return self._users.get(number, [])

    def _products(self, number: int) -> list[_Product] | None:
        """Every product that a state tensor is the right factor of; None where it is used in another way too."""
        found, waiting = [], [(number, True)]
        while waiting:
            value, as_it_lies = waiting.pop()
            for node in self._taken(value):
                operands = [index for index, argument in enumerate(node.args) if argument == Value(value)]
                if node.operator in _PRODUCTS | _WITH_BIAS and operands == [2 if node.operator in _WITH_BIAS else 1]:
                    found.append(_Product(node, as_it_lies))
                elif operands == [0] and _transposes(node):
                    waiting.append((node.first_value, not as_it_lies))
                elif operands == [0] and self._views(node, axes=2):
                    waiting.append((node.first_value, as_it_lies))
                else:
                    return None
        return found

    def _back(self, number: int, factors: list[float]) -> int:
        """What a value is made of through views and factors, each taken by nothing else; the factors are added."""
        while len(self._taken(number)) == 1 and (node := self._made.get(number)) is not None:
            factor = _factor(node)
            if factor is not None:
                factors.append(factor)
            elif not self._views(node, axes=1):
                break
            number = _operand(node)
        # The product itself must have this one user too.
        return number if len(self._taken(number)) == 1 else -1

    def _other_summand(self, number: int, factors: list[float]) -> int | None:
        """The other summand of the sum that a value enters through views and factors, which are added."""
        while len(users := self._taken(number)) == 1:
            node = users[0]
            if node.operator == _SUM:
                return self._other(node, Value(number), factors)
            if (factor := _factor(node)) is not None:
                factors.append(factor)
            elif not self._views(node, axes=1):
                return None
            number = node.first_value
        return None

    def _other(self, node: Node, own: Value, factors: list[float]) -> int | None:
        first, second = node.args[:2]
        alpha = dict(node.kwargs).get("alpha", 1)
        other = first if second == own else second
        if not isinstance(other, Value) or other == own or isinstance(alpha, bool) or not self._whole(node, own):
            return None
        if not isinstance(alpha, (int, float)) or (alpha != 1 and second != own):
            return None
        if alpha != 1:
            factors.append(float(alpha))
        return other.number if self._whole(node, other) else None

    def _summand(self, number: int, products: Mapping[int, _Product]) -> _Product | None:
        """The product among the summands that a value is made of, each of which nothing else takes."""
        waiting, found = [number], []
        while waiting:
            number = waiting.pop()
            node = self._made.get(number)
            if len(self._taken(number)) != 1 or node is None:
                continue
            if number in products:
                found.append(products[number])
            elif node.operator == _SUM and dict(node.kwargs).get("alpha", 1) == 1:
                waiting += [item.number for item in node.args if isinstance(item, Value) and self._whole(node, item)]
            elif self._views(node, axes=1):
                waiting.append(_operand(node))
        return found[0] if len(found) == 1 else None

    def _same_input(self, narrow: int, wide: int, factors: list[float]) -> bool:
        """Whether A reads what W reads, but for views, dropout and factors, which are added."""
        wide = self._root(wide)
        while (narrow := self._root(narrow)) != wide:
            node = self._made.get(narrow)
            if node is None:
                return False
            factor, kept = _factor(node), self._undropped(node)
            if kept is not None:
                narrow = kept
            elif factor is not None:
                factors.append(factor)
                narrow = _operand(node)
            else:
                return False
        return True

    def _root(self, number: int) -> int:
        while (node := self._made.get(number)) is not None and self._views(node, axes=1):
            number = _operand(node)
        return number

    def _undropped(self, node: Node) -> int | None:
        """What dropout is applied to, where(uniform < q, x / q, 0), whose mean it is; None for any other node."""
        if node.operator != "aten.where.self" or not all(isinstance(item, Value) for item in node.args):
            return None
        mask, kept, zero = (self._made.get(item.number) for item in node.args if isinstance(item, Value))
        if mask is None or kept is None or zero is None or zero.operator != "aten.zeros_like.default":
            return None
        drawn = self._made.get(_operand(mask)) if mask.operator == "aten.lt.Scalar" else None
        chance, factor = (mask.args[1] if drawn is not None else None), _factor(kept)
        if drawn is None or drawn.operator != "counterfoil.uniform" or factor is None:
            return None
        right = isinstance(chance, float) and 0 < chance <= 1 and math.isclose(factor * chance, 1, rel_tol=1e-12)
        return _operand(kept) if right and drawn.outputs[0] == node.outputs[0] else None

    def _views(self, node: Node, *, axes: int) -> bool:
        """Whether a node shows its argument's elements in their order, with the last ``axes`` axes as they were.

        Of a weight (two axes) it may show several copies, one for each product of a batch.
        """
        if node.operator not in _VIEWS or not isinstance(node.args[0], Value):
            return False
        before, after = self._types[node.args[0].number], node.outputs[0]
        if before is None or after is None or not (before.floating and after.floating):
            return False
        if min(len(before.shape), len(after.shape)) < axes or before.shape[-axes:] != after.shape[-axes:]:
            return False
        return before.elements == after.elements or (axes == 2 and node.operator == "aten.expand.default")

    def _whole(self, node: Node, value: Value) -> bool:
        """Whether a summand has the shape of the sum, and is not spread over more elements."""
        own, result = self._types[value.number], node.outputs[0]
        return own is not None and result is not None and own.shape == result.shape


def _operand(node: Node) -> int:
    return node.args[0].number if isinstance(node.args[0], Value) else -1


def _factor(node: Node) -> float | None:
    """The number that a node multiplies its first argument with; None for any other node."""
    if node.operator in _TIMES and isinstance(node.args[0], Value):
        factor = node.args[1]
        if isinstance(factor, (int, float)) and not isinstance(factor, bool):
            return float(factor)
    return None


def _transposes(node: Node) -> bool:
    """Whether a node exchanges the last two axes of its argument."""
    if node.operator == "aten.t.default":
        return True
    last = () if node.outputs[0] is None else node.outputs[0].shape
    if node.operator == "aten.transpose.int" and len(node.args) == 3:
        axes = {axis % len(last) for axis in node.args[1:] if isinstance(axis, int)}
        return axes == {len(last) - 2, len(last) - 1}
    return node.operator == "aten.permute.default" and node.args[1] in ((1, 0), (-1, -2), (-1, 0), (1, -2))

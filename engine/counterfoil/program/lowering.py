"""From a functionalised fx graph to a program: rewrites, checks against the allow-list, drops what nobody uses."""

from __future__ import annotations

import operator as python_operator
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, fx

from counterfoil.errors import ProgramError
from counterfoil.program.graph import Argument, Input, Keyword, Node, Program, TensorType, Value, node_values
from counterfoil.program.operators import UNIFORM, is_allowed

_aten = torch.ops.aten
_PASS_THROUGH = {_aten.detach.default, _aten.alias.default, _aten.lift_fresh.default}
_UNINITIALISED = {
    _aten.empty.memory_format,
    _aten.empty_like.default,
    _aten.new_empty.default,
    _aten.empty_strided.default,
}
_DROPPED_KWARGS = ("device", "pin_memory", "non_blocking", "layout")
_TENSOR_INFO = "val"
RECOMPUTED = "Turn activation checkpointing (torch.utils.checkpoint) off: a program keeps what its backward pass needs."
"""The remedy where a backward pass runs parts of the forward pass again."""


def lower(
    graph: fx.Graph,
    inputs: tuple[Input, ...],
    result_names: Sequence[str],
    meta_key: str,
    dtype_names: Mapping[torch.dtype, str],
) -> Program:
    """Turn the graph of a step into a program.

    Args:
        graph: Graph without mutations, whose placeholders are the inputs in order and whose output is the loss
            followed by the new state tensors.
        inputs: The inputs of the program.
        result_names: Names of the new state tensors, in the order of the graph's output.
        meta_key: Key of the node metadata that holds ``(pass, module path)``.
        dtype_names: Names of the dtypes that a program may hold.

    Raises:
        ProgramError: An operator outside the allow-list, or a constant that is not part of the state.
    """
    return _Lowering(graph, inputs, meta_key, dtype_names).run(result_names)


class _Lowering:
    def __init__(
        self, graph: fx.Graph, inputs: tuple[Input, ...], meta_key: str, dtype_names: Mapping[torch.dtype, str]
    ) -> None:
        self._graph = graph
        self._inputs = inputs
        self._meta_key = meta_key
        self._dtype_names = dtype_names
        self._types: list[TensorType | None] = [item.type for item in inputs]
        self._nodes: list[Node] = []
        self._env: dict[fx.Node, Value | tuple[Value | None, ...]] = {}
        self._draws = 0
        self._origin = ("forward", "")

    def run(self, result_names: Sequence[str]) -> Program:
        self._draws = 1 + max(
            (n.args[1] for n in self._graph.nodes if n.target is torch.ops.counterfoil.uniform.default), default=-1
        )
        self._graph.eliminate_dead_code()
        placeholders = iter(range(len(self._inputs)))
        results: list[Value] = []
        for node in self._graph.nodes:
            self._origin = node.meta.get(self._meta_key) or ("forward", "")
            if node.op == "placeholder":
                self._env[node] = Value(next(placeholders))
            elif node.op == "get_attr":
                self._env[node] = self._constant(node)
            elif node.op == "output":
                results = [self._single(item) for item in node.args[0]]
            else:
                self._call(node)
        loss, updates = results[0], dict(zip(result_names, results[1:], strict=True))
        for number, item in enumerate(self._inputs):
            if updates.get(item.name) == Value(number):
                del updates[item.name]
        return _without_dead_nodes(Program(self._inputs, tuple(self._nodes), updates, loss))

    @property
    def _place(self) -> str:
        phase, path = self._origin
        return f"the module {path!r} ({phase} pass)" if path else f"the step itself ({phase} pass)"

    def _single(self, node: Any) -> Value:
        value = self._env[node]
        if not isinstance(value, Value):
            raise ProgramError(f"A result of {self._place} is not a tensor.")
        return value

    def _constant(self, node: fx.Node) -> Value:
        tensor = node.meta.get(_TENSOR_INFO)
        module = self._graph.owning_module
        held = getattr(module, str(node.target), None) if module is not None else None
        if isinstance(held, Tensor) and held.numel() == 1 and held.dim() == 0 and not _is_fake(held):
            return self._emit_one("aten.full.default", ((), held.item()), {"dtype": self._dtype(held.dtype)}, held)
        shape = tuple(tensor.shape) if isinstance(tensor, Tensor) else "unknown"
        raise ProgramError(
            f"A constant tensor of shape {shape} is used in {self._place} but is not part of the model's state.",
            # Activation checkpointing runs a module again, outside the step's own weights.
            remedy=RECOMPUTED
            if self._origin[0] == "backward"
            else "Register it with register_buffer, so that the order commits to it.",
        )

    def _call(self, node: fx.Node) -> None:
        target = node.target
        if target is python_operator.getitem:
            whole, index = node.args
            values = self._env[whole]  # type: ignore[index]
            assert isinstance(values, tuple)
            chosen = values[index]  # type: ignore[index]
            if chosen is None:
                raise ProgramError(f"An output that was not computed is used in {self._place}.")
            self._env[node] = chosen
        elif target in _PASS_THROUGH:
            self._env[node] = self._single(node.args[0])
        elif target is _aten.copy_.default:
            # Functionalisation ends with copies into mutated inputs; the output lists the new values anyway.
            self._env[node.args[0]] = self._env[node] = self._single(node.args[1])  # type: ignore[index]
        elif target is _aten.native_batch_norm.default:
            self._batch_norm(node)
        elif target in _UNINITIALISED:
            # Something is written over it; zeros make what is read the same everywhere even if not.
            info = node.meta[_TENSOR_INFO]
            kwargs = {"dtype": self._dtype(info.dtype)}
            self._env[node] = self._emit_one("aten.full.default", (tuple(info.shape), 0), kwargs, info)
        elif target in (_aten.bernoulli.p, _aten.bernoulli.default):
            self._bernoulli(node)
        else:
            self._plain(node)

    def _plain(self, node: fx.Node) -> None:
        name = _operator_name(node.target)
        if not is_allowed(name):
            random = isinstance(node.target, torch._ops.OpOverload) and (
                torch.Tag.nondeterministic_seeded in node.target.tags
            )
            raise ProgramError(
                f"The operator {name} in {self._place} is not on the allow-list.",
                remedy=(
                    "Draw random numbers with counterfoil.uniform instead."
                    if random
                    else "Express it with operators of the allow-list (counterfoil/program/operators.py)."
                ),
            )
        if name == "aten.index_put.default" and not (len(node.args) > 3 and node.args[3]):
            raise ProgramError(
                f"The operator {name} in {self._place} overwrites elements; with repeated indices the last write "
                "wins, and which is last differs between machines.",
                remedy="Use accumulate=True, torch.where, or scatter with a constant.",
            )
        args = tuple(self._argument(item) for item in node.args)
        kwargs = {key: self._argument(item) for key, item in node.kwargs.items() if key not in _DROPPED_KWARGS}
        self._env[node] = self._emit(name, args, kwargs, self._computed(node))

    def _computed(self, node: fx.Node) -> Any:
        """The results of an operator; None for those that its mask leaves out, which fake tensors may give anyway."""
        names = [argument.name for argument in node.target._schema.arguments]  # type: ignore[union-attr]
        results = node.meta[_TENSOR_INFO]
        if "output_mask" not in names:
            return results
        mask = node.args[names.index("output_mask")]
        return tuple(result if kept else None for result, kept in zip(results, mask, strict=True))  # type: ignore[arg-type]

    def _batch_norm(self, node: fx.Node) -> None:
        """native_batch_norm changes its running statistics without saying so: use the form that returns them."""
        x, weight, bias, mean, variance, training, momentum, epsilon = node.args
        out, save_mean, save_rstd = node.meta[_TENSOR_INFO]
        given = tuple(self._argument(item) for item in (x, weight, bias))
        settings = tuple(self._argument(item) for item in (momentum, epsilon))
        if mean is None:
            name = "aten._native_batch_norm_legit.no_stats"
            self._env[node] = self._emit(name, (*given, bool(training), *settings), {}, (out, save_mean, save_rstd))
            return
        stats = (self._argument(mean), self._argument(variance))
        if not training:
            name = "aten._native_batch_norm_legit_no_training.default"
            self._env[node] = self._emit(name, (*given, *stats, *settings), {}, (out, save_mean, save_rstd))
            return
        values = self._emit(
            "aten._native_batch_norm_legit_functional.default",
            (*given, *stats, True, *settings),
            {},
            (out, save_mean, save_rstd, mean.meta[_TENSOR_INFO], variance.meta[_TENSOR_INFO]),  # type: ignore[union-attr]
        )
        assert isinstance(values, tuple)
        assert values[3] is not None
        assert values[4] is not None
        self._env[node] = values[:3]
        self._env[mean] = values[3]  # type: ignore[index]
        self._env[variance] = values[4]  # type: ignore[index]

    def _bernoulli(self, node: fx.Node) -> None:
        """A framework draw that dropout inside attention makes: take it from Philox."""
        info = node.meta[_TENSOR_INFO]
        chance: Argument = self._argument(node.args[1] if node.target is _aten.bernoulli.p else node.args[0])
        draw, self._draws = self._draws, self._draws + 1
        uniform = self._emit_one(UNIFORM, (tuple(info.shape), draw), {}, info)
        compare = "aten.lt.Tensor" if isinstance(chance, Value) else "aten.lt.Scalar"
        hit = self._emit_one(compare, (uniform, chance), {}, info.to(torch.bool))
        self._env[node] = self._emit_one("aten._to_copy.default", (hit,), {"dtype": self._dtype(info.dtype)}, info)

    def _emit_one(self, name: str, args: tuple[Argument, ...], kwargs: Mapping[str, Argument], result: Tensor) -> Value:
        value = self._emit(name, args, kwargs, result)
        assert isinstance(value, Value)
        return value

    def _emit(
        self, name: str, args: tuple[Argument, ...], kwargs: Mapping[str, Argument], result: Any
    ) -> Value | tuple[Value | None, ...]:
        several = isinstance(result, (tuple, list))
        outputs = tuple(self._type(item) for item in (result if several else (result,)))
        first = len(self._types)
        phase, path = self._origin
        self._nodes.append(Node(name, args, tuple(sorted(kwargs.items())), outputs, first, path, phase))
        self._types.extend(outputs)
        values = tuple(None if t is None else Value(first + i) for i, t in enumerate(outputs))
        if several:
            return values
        assert values[0] is not None
        return values[0]

    def _type(self, tensor: Any) -> TensorType | None:
        if tensor is None:
            return None
        return TensorType(self._dtype(tensor.dtype).name, tuple(int(n) for n in tensor.shape))

    def _dtype(self, dtype: torch.dtype) -> Keyword:
        name = self._dtype_names.get(dtype)
        if name is None:
            raise ProgramError(
                f"A tensor of dtype {dtype} appears in {self._place}.",
                remedy="Write the model in float32; the order's precision says how it is computed.",
            )
        return Keyword("dtype", name)

    def _argument(self, item: Any) -> Argument:
        if isinstance(item, fx.Node):
            return self._single(item)
        if item is None or isinstance(item, (bool, int, float, str)):
            return item
        if isinstance(item, (list, tuple)):
            return tuple(self._argument(part) for part in item)
        if isinstance(item, torch.dtype):
            return self._dtype(item)
        if isinstance(item, torch.memory_format):
            return Keyword("memory_format", str(item).removeprefix("torch."))
        raise ProgramError(f"An argument of the kind {type(item).__name__} appears in {self._place}.")


def _is_fake(tensor: Tensor) -> bool:
    return type(tensor).__name__ == "FakeTensor"


def _operator_name(target: Any) -> str:
    if isinstance(target, torch._ops.OpOverload):
        if target.namespace == "counterfoil":
            return f"counterfoil.{target._opname}"
        return f"{target.namespace}.{target._opname}.{target._overloadname}"
    return str(target)


def _without_dead_nodes(program: Program) -> Program:
    """Drop operators whose outputs nobody uses, and number the values again."""
    needed = {value.number for value in program.updates.values()} | {program.loss.number}
    alive: list[Node] = []
    for node in reversed(program.nodes):
        numbers = range(node.first_value, node.first_value + len(node.outputs))
        if any(number in needed for number in numbers):
            alive.append(node)
            needed.update(value.number for value in node_values(node))
    alive.reverse()
    renumbered = {number: number for number in range(len(program.inputs))}
    following = len(program.inputs)
    nodes = []
    for node in alive:
        args = tuple(_renumber(item, renumbered) for item in node.args)
        kwargs = tuple((key, _renumber(item, renumbered)) for key, item in node.kwargs)
        for position in range(len(node.outputs)):
            renumbered[node.first_value + position] = following + position
        nodes.append(Node(node.operator, args, kwargs, node.outputs, following, node.module, node.phase))
        following += len(node.outputs)
    updates = {name: Value(renumbered[value.number]) for name, value in program.updates.items()}
    return Program(program.inputs, tuple(nodes), updates, Value(renumbered[program.loss.number]))


def _renumber(argument: Argument, numbers: Mapping[int, int]) -> Argument:
    if isinstance(argument, Value):
        return Value(numbers[argument.number])
    if isinstance(argument, tuple):
        return tuple(_renumber(item, numbers) for item in argument)
    return argument

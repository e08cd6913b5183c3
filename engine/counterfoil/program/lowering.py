"""From a functionalised fx graph to a program: rewrites, checks against the allow-list, drops what nobody uses."""

from __future__ import annotations

import operator as python_operator
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, fx

from counterfoil.program.assembly import alive
from counterfoil.program.autocast import in_float32
from counterfoil.program.constants import Constants, SettledNodes, with_constants
from counterfoil.program.whereabouts import in_brackets
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.operators.catalogue import is_allowed
from counterfoil_core.operators.facts import DRAWS, UNIFORM
from counterfoil_core.operators.node import Argument, Keyword, Node, TensorType, Value
from counterfoil_core.operators.uses import COMPARISONS, undefined_use
from counterfoil_core.program.graph import BUFFER, Input, Program, node_values

# Softmax in the place of the exponential of its logarithm, where a program of single operations has its parts. The
# gradient of a log softmax is told its result and takes the exponential of that, a second function of every logit. The
# forward pass had the exponentials already: e / sum(e) is the same number, and closer.

_EXP, _LOG, _SUM, _SUB, _DIV = (
    f"aten.{name}" for name in ("exp.default", "log.default", "sum.dim_IntList", "sub.Tensor", "div.Tensor")
)


def softmax_in_place_of_exponentials(nodes: Sequence[Node]) -> list[Node]:
    """Replace ``exp(z - log(sum(exp(z))))`` by ``exp(z) / sum(exp(z))``.

    Args:
        nodes: Operators in the order in which they run.

    Returns:
        As many, with the same values; some that were used are not any more.
    """
    made = {node.first_value: node for node in nodes}
    return [_softmax(node, made) or node for node in nodes]


def _softmax(node: Node, made: Mapping[int, Node]) -> Node | None:
    """The division, where a node is such an exponential."""
    logarithm = _operand(node, _EXP, 0, made)
    total = _operand(_operand(logarithm, _SUB, 1, made), _LOG, 0, made)
    exponentials = _operand(total, _SUM, 0, made)
    if total is None or exponentials is None or exponentials.operator != _EXP or logarithm is None:
        return None
    if exponentials.args[0] != logarithm.args[0] or logarithm.kwargs or not _keeps_axes(total):
        return None
    parts = (Value(exponentials.first_value), Value(total.first_value))
    return Node(_DIV, parts, (), node.outputs, node.first_value, node.module, node.phase)


def _operand(node: Node | None, operator: str, position: int, made: Mapping[int, Node]) -> Node | None:
    """The node that made an operand of a node of this operator."""
    if node is None or node.operator != operator:
        return None
    given: Argument = node.args[position]
    return made.get(given.number) if isinstance(given, Value) else None


def _keeps_axes(total: Node) -> bool:
    return len(total.args) > 2 and total.args[2] is True


_aten = torch.ops.aten
_PASS_THROUGH = {
    _aten.detach.default,
    _aten.alias.default,
    _aten.lift_fresh.default,
    # A copy, so that nobody changes the constant; functionalisation has removed every change.
    _aten.lift_fresh_copy.default,
}
_UNINITIALISED = {
    _aten.empty.memory_format,
    _aten.empty_like.default,
    _aten.new_empty.default,
    _aten.empty_strided.default,
    _aten.new_empty_strided.default,
}
_DROPPED_KWARGS = ("device", "pin_memory", "non_blocking", "layout")
_NOWHERE = ("forward", "", "")
_TENSOR_INFO = "val"
_OTHER_OPERATOR = "Express it with other operators of the allow-list (counterfoil_core/operators/catalogue.py)."
_REMEDIES = {
    "aten.index_put.default": "Use accumulate=True, torch.where, or scatter with a constant.",
    "aten.sort.stable": "Use torch.sort(x, stable=True).",
}
_RECOMPUTED = (
    "Turn this activation checkpointing off, or use torch.utils.checkpoint; the order's option recompute_activations "
    "(--recompute-activations) saves the memory."
)
"""The remedy where a backward pass runs parts of the forward pass again."""


def lower(
    graph: fx.Graph,
    inputs: tuple[Input, ...],
    result_names: Sequence[str],
    meta_key: str,
    dtype_names: Mapping[torch.dtype, str],
    own_storages: Collection[int],
    *,
    single: bool = False,
    combined_names: Sequence[str] = (),
    taken: Collection[str] = (),
) -> tuple[Program, dict[str, Tensor]]:
    """Turn the graph of a step into a program.

    Args:
        graph: Graph without mutations, whose placeholders are the inputs in order and whose output is the loss
            followed by the new state tensors, and by what is combined.
        inputs: The inputs of the program.
        result_names: Names of the new state tensors, in the order of the graph's output.
        meta_key: Key of the node metadata that holds ``(pass, module path, file and line)``.
        dtype_names: Names of the dtypes that a program may hold.
        own_storages: Addresses of the memory of the model's own tensors: the step must read those as its inputs.
        single: Whether the graph is one of single operations. Then equal operators with equal arguments become one: all
            are pure functions, so no bit changes. A softmax takes the place of its logarithm's exponential.
        combined_names: Names of what is combined with that of other shares, in the order of the graph's output. A
            buffer that stays as it is is left out.
        taken: Names that constants must not get, besides those of the inputs.

    Returns:
        The program; and the constants that it reads as state, by the names that they got, ``constant.1`` and so on.

    Raises:
        ProgramError: An operator outside the allow-list, or a constant that a program cannot hold.
    """
    return _Lowering(graph, inputs, meta_key, dtype_names, own_storages, single).run(
        result_names, combined_names, taken
    )


class _Lowering:
    def __init__(
        self,
        graph: fx.Graph,
        inputs: tuple[Input, ...],
        meta_key: str,
        dtype_names: Mapping[torch.dtype, str],
        own_storages: Collection[int],
        single: bool,
    ) -> None:
        self._graph = graph
        self._inputs = inputs
        self._meta_key = meta_key
        self._dtype_names = dtype_names
        self._own_storages = own_storages
        self._emitted: dict[str, Value | tuple[Value | None, ...]] | None = {} if single else None
        """The values of each operator so far by its text, which tells 1 from 1.0 and 0.0 from -0.0."""
        self._constants = Constants()
        self._types: list[TensorType | None] = [item.type for item in inputs]
        self._nodes: list[Node] = []
        self._env: dict[fx.Node, Value | tuple[Value | None, ...]] = {}
        self._draws = 0
        self._origin = _NOWHERE

    def run(
        self, result_names: Sequence[str], combined_names: Sequence[str], taken: Collection[str]
    ) -> tuple[Program, dict[str, Tensor]]:
        self._draws = 1 + max(
            (n.args[1] for n in self._graph.nodes if n.op == "call_function" and _operator_name(n.target) in DRAWS),
            default=-1,
        )
        self._graph.eliminate_dead_code()
        self._settled = SettledNodes(self._graph)
        placeholders = iter(range(len(self._inputs)))
        results: list[Value] = []
        for node in self._graph.nodes:
            self._origin = node.meta.get(self._meta_key) or _NOWHERE
            if node.op == "placeholder":
                self._env[node] = Value(next(placeholders))
            elif node.op == "get_attr":
                self._env[node] = self._constant(node)
            elif node.op == "output":
                results = [self._single(item) for item in node.args[0]]
            else:
                self._call(node)
        named = list(zip((*result_names, *combined_names), results[1:], strict=True))
        loss, updates, combined = results[0], dict(named[: len(result_names)]), dict(named[len(result_names) :])
        for number, item in enumerate(self._inputs):
            for given, name in ((updates, item.name), (combined, f"{BUFFER}{item.name}")):
                if item.kind == "state" and given.get(name) == Value(number):
                    del given[name]
        nodes = self._nodes if self._emitted is None else softmax_in_place_of_exponentials(self._nodes)
        kept = alive(nodes, (*updates.values(), *combined.values(), loss))
        return with_constants(kept, self._inputs, updates, loss, combined, self._constants, taken)

    @property
    def _place(self) -> str:
        phase, path, _ = self._origin
        return f"the module {path!r} ({phase} pass)" if path else f"the step itself ({phase} pass)"

    @property
    def _line(self) -> str:
        return in_brackets(self._origin[2])

    def _single(self, node: Any) -> Value:
        value = self._env[node]
        if not isinstance(value, Value):
            raise ProgramError(f"A result of {self._place} is not a tensor.")
        return value

    def _constant(self, node: fx.Node) -> Value:
        module = self._graph.owning_module
        held = getattr(module, str(node.target), None) if module is not None else None
        if not isinstance(held, Tensor) or _is_fake(held) or held.layout is not torch.strided:
            raise ProgramError(
                f"A constant is used in {self._place} that is no plain tensor{self._line}.",
                remedy="Register it with register_buffer, so that the order commits to it.",
            )
        if held.numel() and held.untyped_storage().data_ptr() in self._own_storages:
            # Activation checkpointing runs a module again, outside the step's own weights.
            raise ProgramError(
                f"A tensor of the model, of shape {tuple(held.shape)}, is used in {self._place} past the step's "
                f"inputs, so it would stay what it is now while the model is trained{self._line}.",
                remedy=_RECOMPUTED
                if self._origin[0] == "backward"
                else "Use it as the attribute of the module that registered it, not as a copy of the reference.",
            )
        dtype = self._dtype(held.dtype)
        if held.dim() == 0:
            return self._emit_one("aten.full.default", ((), held.item()), {"dtype": dtype}, held)
        if not held.numel():
            return self._emit_one("aten.full.default", (tuple(held.shape), 0), {"dtype": dtype}, held)
        return self._constants.value_of(held, TensorType(dtype.name, tuple(held.shape)))

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
        elif changes_a_constant(node):
            raise ProgramError(
                f"A tensor that is not part of the model's state is changed in {self._place}, and the next step would "
                f"find it changed{self._line}.",
                remedy="Register it with register_buffer, so that the step hands it on.",
            )
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
                f"The operator {name} in {self._place} is not on the allow-list{self._line}.",
                remedy=(
                    "Draw with torch.rand, randn, randint, randperm or multinomial, or with counterfoil.uniform."
                    if random
                    else "Express it with operators of the allow-list (counterfoil_core/operators/catalogue.py)."
                ),
            )
        settled = self._settled.integers(node)
        if settled is not None:
            described = TensorType(self._dtype(settled.dtype).name, tuple(settled.shape))
            self._env[node] = self._constants.value_of(settled, described)
            return
        args = tuple(self._argument(item) for item in node.args)
        kwargs = {key: self._argument(item) for key, item in node.kwargs.items() if key not in _DROPPED_KWARGS}
        result = self._computed(node)
        if "dtype" not in kwargs and self._promotes(name, args, result):
            args = tuple(self._as_float(given, item) for given, item in zip(node.args, args, strict=True))
        self._env[node] = self._emit(name, args, kwargs, result)

    def _promotes(self, name: str, args: tuple[Argument, ...], result: Any) -> bool:
        """Whether an operator makes floating-point numbers of integers alone, or compares these with such a number.

        The library then computes in torch's default dtype; a program has the order's compute dtype.
        """
        if name.startswith("aten.where.") or any(self._is_float(item) for item in args):
            return False
        compared = name.split(".")[1] in COMPARISONS and any(isinstance(item, float) for item in args)
        return compared or (isinstance(result, Tensor) and result.is_floating_point())

    def _is_float(self, argument: Argument) -> bool:
        if isinstance(argument, tuple):
            return any(self._is_float(item) for item in argument)
        return isinstance(argument, Value) and self._type_of(argument).floating

    def _as_float(self, given: Any, argument: Argument) -> Argument:
        if not isinstance(argument, Value):
            return argument
        dtype = torch.get_default_dtype()
        result = given.meta[_TENSOR_INFO].to(dtype)
        return self._emit_one("aten._to_copy.default", (argument,), {"dtype": self._dtype(dtype)}, result)

    def _type_of(self, value: Value) -> TensorType:
        known = self._constants[value.number][1] if value.number < 0 else self._types[value.number]
        assert known is not None
        return known

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
        text = repr((name, args, sorted(kwargs.items())))
        if self._emitted is not None and text in self._emitted:
            return self._emitted[text]
        outputs = tuple(self._type(item) for item in (result if several else (result,)))
        first = len(self._types)
        phase, path, _ = self._origin
        node = Node(name, args, tuple(sorted(kwargs.items())), outputs, first, path, phase)
        undefined = undefined_use(node, [self._type_of(value) for value in node_values(node)])
        if undefined is not None:
            raise ProgramError(
                f"The operator {name} in {self._place} {undefined}{self._line}.",
                remedy=_REMEDIES.get(name, _OTHER_OPERATOR),
            )
        self._nodes.append(node)
        self._types.extend(outputs)
        values = tuple(None if t is None else Value(first + i) for i, t in enumerate(outputs))
        made: Value | tuple[Value | None, ...] | None = values if several else values[0]
        assert made is not None
        if self._emitted is not None:
            self._emitted[text] = made
        return made

    def _type(self, tensor: Any) -> TensorType | None:
        if tensor is None:
            return None
        return TensorType(self._dtype(tensor.dtype).name, tuple(int(n) for n in tensor.shape))

    def _dtype(self, dtype: torch.dtype) -> Keyword:
        name = self._dtype_names.get(dtype)
        if name is None:
            raise ProgramError(
                f"A tensor of dtype {dtype} appears in {self._place}{self._line}.",
                remedy=in_float32(dtype),
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
        raise ProgramError(f"An argument of the kind {type(item).__name__} appears in {self._place}{self._line}.")


def _is_fake(tensor: Tensor) -> bool:
    return type(tensor).__name__ == "FakeTensor"


def _operator_name(target: Any) -> str:
    if isinstance(target, torch._ops.OpOverload):
        drawn = f"{target.namespace}.{target._opname}"
        return drawn if drawn in DRAWS else f"{drawn}.{target._overloadname}"
    return str(target)


def changes_a_constant(node: fx.Node) -> bool:
    """Return whether an operator writes into a constant of its graph."""
    target = node.target
    if not isinstance(target, torch._ops.OpOverload) or not target._schema.is_mutable:
        return False
    written = zip(target._schema.arguments, node.args, strict=False)
    return any(
        argument.alias_info is not None
        and argument.alias_info.is_write
        and isinstance(given, fx.Node)
        and given.op == "get_attr"
        for argument, given in written
    )

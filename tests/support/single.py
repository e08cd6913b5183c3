"""Composite operators as single operations, computed by the rules of the exact profiles one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, fx
from torch.func import functionalize
from torch.fx.experimental.proxy_tensor import make_fx

from counterfoil.program.composites import COMPOSITES, MUTATING
from counterfoil.program.decompositions import DECOMPOSITIONS
from counterfoil.program.tracing import PORTABLE
from counterfoil_core.arithmetic.compute.operation import make_operation
from counterfoil_core.arithmetic.families.table import DEFINITIONS
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.operators.catalogue import classify, is_allowed
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.operators.node import Node, TensorType

UNINITIALISED = ("aten.empty_like.default", "aten.new_empty.default", "aten.empty.memory_format")


def listed(result: Any) -> list[Tensor | None]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def name_of(target: Any) -> str:
    return f"{target.namespace}.{target._opname}.{target._overloadname}"


class Singles(fx.Interpreter):
    """Runs a graph by the rules, and remembers the operators that it meets.

    Attributes:
        names: Names of the operators.
        composite: Those of class rounded that have no rule.
    """

    def __init__(self, module: fx.GraphModule, profile: Profile) -> None:
        super().__init__(module)
        self._profile = profile
        self.names: list[str] = []
        self.composite: set[str] = set()

    def call_function(self, target: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
        if not isinstance(target, torch._ops.OpOverload):
            return super().call_function(target, args, dict(kwargs))
        name = name_of(target)
        if name in UNINITIALISED:
            # Something is written over it; a program has zeros there.
            return torch.zeros_like(target(*args, **kwargs))
        self.names.append(name)
        expected = listed(target(*args, **kwargs))
        floating = any(x is not None and x.is_floating_point() for x in expected)
        assert is_allowed(name), name
        entry = classify(name, alpha=kwargs.get("alpha", 1), floating=floating)
        if entry.operator_class is not OperatorClass.ROUNDED:
            return super().call_function(target, args, dict(kwargs))
        rule = DEFINITIONS.get(entry.kind)
        if rule is None:
            self.composite.add(name)
            return super().call_function(target, args, dict(kwargs))
        operation = make_operation(Node(name, (), (), (TensorType("float32", ()),), 0, "", "forward"))
        found = rule(operation.named(list(args), dict(kwargs)), self._profile)
        for result in listed(found):
            # A step ends at what is no number, and at infinity out of finite numbers.
            if result is not None:
                assert not result.isnan().any(), name
                holds = any(isinstance(x, Tensor) and x.is_floating_point() and bool(x.isinf().any()) for x in args)
                assert holds or not result.isinf().any(), f"{name} gave infinity out of finite numbers"
        return found


def singly(function: Callable[..., Any], *args: Any, profile: Profile | None = None) -> tuple[list[Any], Singles]:
    """Trace a function as a step is captured for an exact profile, and run what comes out by the rules.

    Args:
        function: A function of tensors.
        args: Its arguments, float32 or integers.
        profile: The profile; S = 24 unless given.

    Returns:
        Its results, and the interpreter with the operators that it met.
    """
    impure = make_fx(function, decomposition_table={**DECOMPOSITIONS, **MUTATING})(*args)
    pure = functionalize(fx.Interpreter(impure).run, remove="mutations")
    graph = make_fx(pure, decomposition_table={**PORTABLE, **COMPOSITES})(*args)
    graph.graph.eliminate_dead_code()
    interpreter = Singles(graph, profile or Profile(24))
    return listed(interpreter.run(*args)), interpreter

"""The other machine: in which order it adds, which functions it has, and how an operator is handed to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.operation import Operation
from counterfoil_core.arithmetic.otherwise.rewriting.additions import Adder
from counterfoil_core.arithmetic.otherwise.rewriting.functions import functions
from counterfoil_core.base.arrays import Array

Change = Callable[[Operation, list[Any], dict[str, Any]], Any]
"""Computes one operator in another way."""
VARIANTS = 2


class Machine:
    """Another machine: how it adds, and which functions it has.

    Args:
        variant: 0 or 1.
    """

    def __init__(self, variant: int) -> None:
        self.other = variant == 1
        self.add = Adder(tree=self.other)
        self.f = functions(identities=self.other)


class Arguments:
    """The arguments of an operator by name: tensors as numpy arrays."""

    def __init__(self, kind: str, named: Mapping[str, Any]) -> None:
        self.kind = kind
        self._named = {name: _array(value) for name, value in named.items()}

    def __getitem__(self, name: str) -> Any:
        return self._named[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The argument, or ``default`` where this overload has none of that name."""
        return self._named.get(name, default)

    def floats(self, name: str) -> Array:
        """A tensor in the dtype that the operator computes in."""
        x: Array = self[name]
        dtype = self.get("dtype")
        if isinstance(dtype, torch.dtype) and dtype.is_floating_point:
            return x.astype(np.float64 if dtype is torch.float64 else np.float32)
        return x


Rule = Callable[[Machine, Arguments], Any]
_RULES: dict[str, Rule] = {}


def rule(*kinds: str) -> Callable[[Rule], Rule]:
    """Register how operator kinds are computed."""

    def register(function: Rule) -> Rule:
        for kind in kinds:
            assert kind not in _RULES, f"{kind} is rewritten twice"
            _RULES[kind] = function
        return function

    return register


def rewritten_kinds() -> frozenset[str]:
    """The operator kinds that have another algorithm."""
    return frozenset(_RULES)


def rewritten(variant: int) -> Mapping[str, Change]:
    """Return, by operator kind, how to compute it by another algorithm.

    Args:
        variant: 0 adds one after another, 1 as binary trees.
    """
    machine = Machine(variant)
    return {kind: _change(machine, kind, function) for kind, function in _RULES.items()}


def _change(machine: Machine, kind: str, function: Rule) -> Change:
    def compute(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        named = operation.named(args, kwargs)
        device = next((value.device for value in named.values() if isinstance(value, Tensor)), torch.device("cpu"))
        with np.errstate(all="ignore"):
            result = function(machine, Arguments(kind, named))
        if isinstance(result, list):
            return [_tensor(part, device) for part in result]
        return _tensor(result, device)

    return compute


def _array(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().cpu().numpy()
    return [_array(item) for item in value] if isinstance(value, (list, tuple)) else value


def _tensor(result: Any, device: torch.device) -> Any:
    return None if result is None else torch.from_numpy(np.array(result, order="C")).to(device)


def reduced_axes(a: Arguments, x: Array) -> list[int]:
    """The axes ``dim`` of a reduction; all of them where it names none."""
    dims = a.get("dim")
    if dims is None or (isinstance(dims, list) and not dims):
        return list(range(x.ndim))
    return [dims] if isinstance(dims, int) else list(dims)


def keeps_axes(a: Arguments) -> bool:
    """Whether a reduction keeps its axes with the length 1."""
    return bool(a.get("keepdim", False))

"""Single elements of operators' results: by their exact forms, held against what torch computes in float64."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.operation import make_operation, native
from counterfoil_core.arithmetic.families.table import DEFINITIONS, scale_rule
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.grid import ZERO_SCALE, scale_exponent
from counterfoil_core.operators.catalogue import classify
from counterfoil_core.operators.judge import exact_output
from counterfoil_core.operators.judging.numbers import MP
from counterfoil_core.operators.node import Node, TensorType
from support.operator_calls import Call, listed, operation_of

MARGIN_BITS = 44
TRIED = 7


def some(count: int) -> list[int]:
    """First, last, and a few in between."""
    return sorted({round(i * (count - 1) / (TRIED - 1)) for i in range(TRIED)})


def distances(call: Call, change: Any = lambda y: y) -> list[float]:
    """How far some elements of torch's result, changed, lie from the exact ones, in units of tau."""
    name, args, kwargs = call
    operation = operation_of(call)
    arguments = operation.named(list(args), dict(kwargs))
    outputs = listed(native(operation, list(args), dict(kwargs)))
    sizes = scale_rule(classify(name, alpha=0.3))(arguments, outputs)
    found = []
    for position, (size, output) in enumerate(zip(sizes, outputs, strict=True)):
        if not isinstance(output, Tensor) or not output.is_floating_point() or output.numel() == 0:
            continue
        exponent = scale_exponent(float(size))
        assert exponent is not None
        tau = 0.0 if exponent == ZERO_SCALE else math.ldexp(1.0, exponent - MARGIN_BITS)
        flat = output.reshape(-1).numpy()
        indices = some(flat.size)
        exact = exact_output(operation.node, arguments, position).element
        for index in indices:
            off = float(abs(MP.mpf(change(float(flat[index]))) - exact(index)))
            found.append(off / tau if tau else (math.inf if off else 0.0))
    assert found
    return found


def agrees(call: Call) -> bool:
    """Whether torch's result is within the margin, and would not be if every element were off by 2^-30 of its size."""
    return max(distances(call)) <= 0.25 and max(distances(call, off)) > 1


def off(y: float) -> float:
    return y * (1 + 2**-30) + 1e-30


def element_of(name: str, args: list[Any], index: int, **kwargs: Any) -> Any:
    operation = operation_of((name, args, kwargs))
    return exact_output(operation.node, operation.named(args, kwargs), 0).element(index)


def node_of(name: str, outputs: list[Tensor | None]) -> Node:
    types = tuple(
        None if x is None else TensorType(str(x.dtype).removeprefix("torch."), tuple(x.shape)) for x in outputs
    )
    return Node(name, (), (), types, 0, "", "forward")


def called(name: str, args: list[Any], bits: int) -> tuple[Node, dict[str, Any], list[Tensor | None]]:
    """The operator, its arguments by name, and what the tensor operation gives."""
    operation = make_operation(node_of(name, [torch.empty(())]))
    rule = DEFINITIONS[operation.node.entry.kind]
    arguments = operation.named(args, {})
    found = rule(arguments, Profile(bits))
    outputs = list(found) if isinstance(found, (tuple, list)) else [found]
    return node_of(name, outputs), arguments, outputs

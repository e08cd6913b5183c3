"""How far results may be from exact ones: the operator's proven bound, or a stated one."""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor

from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.families.table import scale_rule
from counterfoil_core.arithmetic.grid.margin import bounds_of
from counterfoil_core.operators.catalogue import allowed_names, classify
from counterfoil_core.operators.facts import Bound, OperatorClass, Use
from counterfoil_core.operators.judge import exact_output
from counterfoil_core.operators.judging.numbers import MP, NotExactError
from counterfoil_core.operators.node import TensorType
from support.operator_calls import Call, listed, operation_of

STATED = Bound(64)
"""For uses without a proven bound: 64 roundings of numbers of the operator's scale."""
HARMLESS = 2.0**-156
"""An error of 2^-7 of the finest quantum decides nothing, whatever the scale."""
MOST = 48
"""Elements of an output that are looked at."""


def rounded_names() -> set[str]:
    return {name for name in allowed_names() if classify(name, alpha=0.3).operator_class is OperatorClass.ROUNDED}


def described(value: Any) -> Any:
    if isinstance(value, Tensor):
        return TensorType("float32" if value.is_floating_point() else "int64", tuple(value.shape))
    return [described(item) for item in value] if isinstance(value, (list, tuple)) else value


def allowances(call: Call, arguments: dict[str, Any], outputs: list[Any]) -> list[float | None]:
    """For each output the error that its bound allows; None for one that is not looked at."""
    entry = classify(call[0], alpha=0.3)
    scales = scale_rule(entry)(arguments, outputs)
    types = {key: described(value) for key, value in arguments.items()}
    bounds = bounds_of(Use(entry, types, len(outputs)))
    found: list[float | None] = []
    for output, size, bound in zip(outputs, scales, bounds, strict=True):
        if not isinstance(output, Tensor) or not output.is_floating_point() or not output.numel():
            found.append(None)
            continue
        chosen = bound or STATED
        unit = chosen.terms * 2.0**-53
        found.append(max(chosen.factor * unit / (1 - unit) * float(size), HARMLESS))
    return found


def worst(call: Call, *results: list[Any]) -> tuple[float, int]:
    """The largest error of the native results, or of others, as a share of what is allowed; elements looked at."""
    name, args, kwargs = call
    operation = operation_of(call)
    arguments = operation.named(list(args), dict(kwargs))
    outputs = listed(native(operation, list(args), dict(kwargs)))
    most, seen = 0.0, 0
    for position, allowed in enumerate(allowances(call, arguments, outputs)):
        if allowed is None:
            continue
        assert math.isfinite(allowed), f"the scale of {name} is {allowed}"
        flats = [found[position].reshape(-1).tolist() for found in results or [outputs]]
        element = exact_output(operation.node, arguments, position).element
        for index in range(0, len(flats[0]), -(-len(flats[0]) // MOST)):
            try:
                exact = element(index)
            except NotExactError:
                continue
            seen += 1
            for flat in flats:
                # Not a number is no value, however near.
                error = abs(MP.mpf(flat[index]) - exact) if math.isfinite(flat[index]) else MP.inf
                most = max(most, float(error / MP.mpf(allowed)))
    return most, seen

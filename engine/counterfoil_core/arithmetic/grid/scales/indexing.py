"""Scales of sums over repeated indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from counterfoil_core.arithmetic.grid.magnitude import largest
from counterfoil_core.arithmetic.grid.scales.shared import Arguments, Outputs, Rule, Scale, add


def _scatter(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Sums over repeated indices: all magnitudes that can meet in one element."""
    out = outputs[0]
    assert out is not None
    if "grad_output" in arguments:  # embedding: rows of grad_output meet where their indices are equal
        indices = arguments["indices"].flatten()
        return [largest(arguments["grad_output"]) * _most_repeats(indices, out.shape[0])]
    # The same sum over magnitudes, onto zeros: exactly the terms that meet in each element.
    zeros = torch.zeros_like(arguments["self"])
    if "values" in arguments:
        met = torch.ops.aten.index_put.default(zeros, arguments["indices"], arguments["values"].abs(), True)
    elif "src" in arguments:
        met = torch.ops.aten.scatter_add.default(zeros, arguments["dim"], arguments["index"], arguments["src"].abs())
    else:
        source = arguments["source"].abs() * abs(float(arguments.get("alpha", 1)))
        met = torch.ops.aten.index_add.default(zeros, arguments["dim"], arguments["index"], source)
    return [add(largest(arguments["self"]), largest(met))]


def _most_repeats(indices: Tensor, count: int) -> Tensor | int:
    """How often the most frequent of the indices ``[n]``, below ``count``, occurs."""
    if not indices.numel():
        return 0
    if indices.device.type == "cpu":
        # As a float64 number: a number of Python times an int64 tensor is float32.
        return torch.bincount(indices, minlength=1).amax().double()
    # There a count of each value would wait for the device, to learn how many values there are.
    places = indices.long()
    return (
        torch.zeros(count, dtype=torch.int64, device=indices.device)
        .index_add(0, places, torch.ones_like(places))
        .amax()
        .double()
    )


RULES: Mapping[str, Rule] = {
    "scatter": _scatter,
}

"""Scales of products of matrices and vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from counterfoil_core.arithmetic.grid.magnitude import largest, largest_energy, largest_energy_product
from counterfoil_core.arithmetic.grid.scales.shared import Arguments, Outputs, Rule, Scale, add, root


def _mm(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Matrix products: largest row norm times largest column norm (Cauchy-Schwarz), and the matrix that is added."""
    if "vec" in arguments or "tensor" in arguments:
        matrix = arguments.get("mat", arguments["self"])
        vector = arguments["vec"] if "vec" in arguments else arguments["tensor"]
        product: Tensor | float = root(largest_energy(matrix, -1) * largest_energy(vector, 0))
        added = arguments["self"] if "mat" in arguments else None
    else:
        first = arguments.get("mat1", arguments["self"])
        second = arguments["mat2"]
        product = root(largest_energy(first, 1) * largest_energy(second, 0))
        added = arguments["self"] if "mat1" in arguments else None
    return [
        add(
            product * abs(float(arguments.get("alpha", 1))),
            largest(added) * abs(float(arguments.get("beta", 1))) if added is not None else 0.0,
        )
    ]


def _bmm(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Batched matrix products: the largest of the batch."""
    first = arguments.get("batch1", arguments["self"])
    second = arguments["batch2"] if "batch2" in arguments else arguments["mat2"]
    if first.numel() == 0 or second.numel() == 0:
        product: Tensor | float = 0.0
    else:
        product = root(largest_energy_product(first, second))
    if "batch1" not in arguments:
        return [product]
    added = largest(arguments["self"]) * abs(float(arguments["beta"]))
    return [add(product * abs(float(arguments["alpha"])), added)]


RULES: Mapping[str, Rule] = {
    "mm": _mm,
    "bmm": _bmm,
}

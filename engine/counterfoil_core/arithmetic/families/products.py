"""Products of matrices and vectors: scales, forms with the inner axis in parts, definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from counterfoil_core.arithmetic.families.magnitude import largest, largest_energy, largest_energy_product
from counterfoil_core.arithmetic.families.parts import (
    Definition,
    Form,
    Outputs,
    Run,
    Scale,
    ScaleRule,
    add,
    root,
    times,
)
from counterfoil_core.kernels.devicenumber import DeviceNumber
from counterfoil_core.kernels.exact import products
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.operators import sums
from counterfoil_core.operators.sums import Arguments

# Scales of products of matrices and vectors.


def _mm_scale(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Matrix products: largest row norm times largest column norm (Cauchy-Schwarz), and the matrix that is added."""
    if "vec" in arguments or "tensor" in arguments:
        matrix = arguments.get("mat", arguments["self"])
        vector = arguments["vec"] if "vec" in arguments else arguments["tensor"]
        product: DeviceNumber | float = root(largest_energy(matrix, -1) * largest_energy(vector, 0))
        added = arguments["self"] if "mat" in arguments else None
    else:
        first = arguments.get("mat1", arguments["self"])
        second = arguments["mat2"]
        product = root(largest_energy(first, 1) * largest_energy(second, 0))
        added = arguments["self"] if "mat1" in arguments else None
    return [
        add(
            times(product, float(arguments.get("alpha", 1))),
            times(largest(added), float(arguments.get("beta", 1))) if added is not None else 0.0,
        )
    ]


def _bmm_scale(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Batched matrix products: the largest of the batch."""
    first = arguments.get("batch1", arguments["self"])
    second = arguments["batch2"] if "batch2" in arguments else arguments["mat2"]
    if first.numel() == 0 or second.numel() == 0:
        product: DeviceNumber | float = 0.0
    else:
        product = root(largest_energy_product(first, second))
    if "batch1" not in arguments:
        return [product]
    added = times(largest(arguments["self"]), float(arguments["beta"]))
    return [add(times(product, float(arguments["alpha"])), added)]


SCALES: Mapping[str, ScaleRule] = {
    "mm": _mm_scale,
    "bmm": _bmm_scale,
}

# Matrix products with the inner axis in parts.


def _matrix(run: Run, a: Arguments) -> Any:
    """Matrix products with the inner axis in parts."""
    name = sums.second_factor(a)
    right, factor = a[name], {"mat2": "mat1", "batch2": "batch1", "vec": "mat"}.get(name, "")
    left, is_added = a.get(factor, a["self"]), factor in a
    operator = {"vec": "mv", "tensor": "dot"}.get(name, "bmm" if right.dim() == 3 else "mm")
    inner = 0 if right.dim() == 1 else right.dim() - 2
    length = right.shape[inner]
    part = sums.part_length(length)
    result: Any = None
    for start in range(0, length, part):
        count = min(part, length - start)
        product = run(f"aten.{operator}.default", left.narrow(-1, start, count), right.narrow(inner, start, count))
        result = product if result is None else result.add_(product)
    if not is_added:
        return result
    result = result.mul_(a["alpha"])
    return result if a["beta"] == 0 else result.add_(a["self"] * a["beta"])


FORMS: dict[str, Form] = {**dict.fromkeys(("mm", "addmm", "mv", "addmv", "dot", "bmm", "baddbmm"), _matrix)}
"""Forms by operator kind."""


def _mm_defined(arguments: Arguments, profile: Profile) -> Tensor:
    return products.matmul(arguments["self"], arguments["mat2"], profile.bits, profile.matrices)


def _bmm_defined(arguments: Arguments, profile: Profile) -> Tensor:
    return products.matmul(arguments["self"], arguments["mat2"], profile.bits, profile.batches)


def _mv(arguments: Arguments, profile: Profile) -> Tensor:
    return products.matmul(arguments["self"], arguments["vec"][:, None], profile.bits, profile.matrices)[:, 0]


def _dot(arguments: Arguments, profile: Profile) -> Tensor:
    x, y = arguments["self"], arguments["tensor"]
    return products.matmul(x[None], y[:, None], profile.bits, profile.matrices)[0, 0]


DEFINITIONS: Mapping[str, Definition] = {"mm": _mm_defined, "bmm": _bmm_defined, "mv": _mv, "dot": _dot}
"""By operator kind."""

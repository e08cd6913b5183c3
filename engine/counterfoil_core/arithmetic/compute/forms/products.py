"""Matrix products with the inner axis in parts."""

from __future__ import annotations

from typing import Any

from counterfoil_core.arithmetic.compute.forms.pieces import Form, Run
from counterfoil_core.operators import sums
from counterfoil_core.operators.sums import Arguments


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

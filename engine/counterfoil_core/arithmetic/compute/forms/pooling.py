"""Average pooling along one axis after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from counterfoil_core.arithmetic.compute.forms.pieces import Form, Run
from counterfoil_core.operators import sums
from counterfoil_core.operators.sums import Arguments


def _average(operator: str) -> Form:
    """Average pooling along one axis after another: the number of elements of a window is a product over the axes."""

    def form(run: Run, a: Arguments) -> Any:
        x, override = a["self"], a.get("divisor_override")
        axes = sums.pool_axes(operator)
        kernel = sums.spatial(a["kernel_size"], axes)
        stride = sums.spatial(a["stride"] or kernel, axes)
        padding = sums.spatial(a["padding"], axes)
        for axis in reversed(range(axes)):

            def only(values: Sequence[int], other: int, axis: int = axis) -> list[int]:
                return [values[axis] if number == axis else other for number in range(axes)]

            x = run(
                f"aten.{operator}.default", x, only(kernel, 1), only(stride, 1), only(padding, 0), a["ceil_mode"],
                a["count_include_pad"], None if override is None else 1,
            )  # fmt: skip
        return x if override is None else run("aten.div.Scalar", x, float(override))

    return form


def _adaptive_average(operator: str) -> Form:
    """Adaptive average pooling along one axis after another."""

    def form(run: Run, a: Arguments) -> Any:
        x = a["self"]
        axes = sums.pool_axes(operator)
        sizes = sums.spatial(a["output_size"], axes)
        for axis in reversed(range(axes)):
            current = list(x.shape[-axes:])
            current[axis] = sizes[axis]
            x = run(f"aten.{operator}.default", x, current)
        return x

    return form


FORMS: dict[str, Form] = {
    **{kind: _average(kind) for kind in ("avg_pool2d", "avg_pool3d")},
    **{kind: _adaptive_average(kind) for kind in ("_adaptive_avg_pool2d", "_adaptive_avg_pool3d")},
}
"""Forms by operator kind."""

"""ATen operators that are single operations of the exact profiles, computed by their definitions.

What a program of such a profile may hold besides views and exact operators. Composite operators are no entries: they
are lowered to these before a program is written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil.kernels.exact import convolutions, elementwise, functions, products, sums
from counterfoil.kernels.exact.forms import sound_forms
from counterfoil.kernels.exact.geometry import Geometry
from counterfoil.kernels.exact.products import Form
from counterfoil.operators.sums import spatial

Arguments = Mapping[str, Any]
"""Arguments of an operator by name, with defaults; floating-point tensors are float32."""


@dataclass(frozen=True)
class Profile:
    """An exact profile on one machine.

    Attributes:
        bits: S.
        matrices: Form of products of two matrices.
        batches: Form of products of batches.
        kernels: Form of convolutions and their gradients.
    """

    bits: int
    matrices: Form = Form.FLOAT64
    batches: Form = Form.FLOAT64
    kernels: Form = Form.FLOAT64

    @classmethod
    def on(cls, device: torch.device, bits: int) -> Profile:
        """Choose forms that give the known answers on a device; the results do not depend on the choice."""
        sound = sound_forms(str(device))
        fast = Form.KARATSUBA if Form.KARATSUBA in sound else Form.FLOAT64
        return cls(bits, matrices=fast, batches=Form.FLOAT64, kernels=fast)


Rule = Callable[[Arguments, Profile], Any]


def rule_for(kind: str) -> Rule | None:
    """Return what computes an operator kind by its definition; None where it is no single operation.

    Args:
        kind: The name without library and overload, for instance ``mm``.
    """
    if kind in functions.FUNCTIONS:
        return lambda arguments, profile: _function(kind, arguments)
    return _RULES.get(kind)


def kinds() -> frozenset[str]:
    """The operator kinds that have a rule."""
    return functions.FUNCTIONS | frozenset(_RULES)


def _function(kind: str, arguments: Arguments) -> Tensor:
    return functions.evaluate(kind, *(arguments[name] for name in functions.operand_names(kind)))


def _divide(arguments: Arguments, profile: Profile) -> Tensor:
    return elementwise.divide(arguments["self"], arguments["other"])


def _mm(arguments: Arguments, profile: Profile) -> Tensor:
    return products.matmul(arguments["self"], arguments["mat2"], profile.bits, profile.matrices)


def _bmm(arguments: Arguments, profile: Profile) -> Tensor:
    return products.matmul(arguments["self"], arguments["mat2"], profile.bits, profile.batches)


def _mv(arguments: Arguments, profile: Profile) -> Tensor:
    return products.matmul(arguments["self"], arguments["vec"][:, None], profile.bits, profile.matrices)[:, 0]


def _dot(arguments: Arguments, profile: Profile) -> Tensor:
    x, y = arguments["self"], arguments["tensor"]
    return products.matmul(x[None], y[:, None], profile.bits, profile.matrices)[0, 0]


def _geometry(arguments: Arguments) -> Geometry:
    axes = arguments["weight"].dim() - 2
    stride, padding, dilation = (tuple(spatial(arguments[name], axes)) for name in ("stride", "padding", "dilation"))
    return Geometry(stride, padding, dilation, arguments["groups"])


def _convolution(arguments: Arguments, profile: Profile) -> Tensor:
    assert arguments["bias"] is None, "a bias is an operation of its own"
    x, weight, geometry = arguments["input"], arguments["weight"], _geometry(arguments)
    if not arguments["transposed"]:
        return convolutions.convolution(x, weight, geometry, profile.bits, profile.kernels)
    size = [
        (length - 1) * stride - 2 * padding + dilation * (taps - 1) + extra + 1
        for length, stride, padding, dilation, taps, extra in zip(
            x.shape[2:],
            geometry.stride,
            geometry.padding,
            geometry.dilation,
            weight.shape[2:],
            spatial(arguments["output_padding"], weight.dim() - 2),
            strict=True,
        )
    ]
    return convolutions.input_gradient(x, weight, size, geometry, profile.bits, profile.kernels)


def _convolution_backward(arguments: Arguments, profile: Profile) -> tuple[Tensor | None, ...]:
    g, x, weight, geometry = (*(arguments[name] for name in ("grad_output", "input", "weight")), _geometry(arguments))
    wanted, kernel, settings = arguments["output_mask"], weight.shape[2:], (geometry, profile.bits, profile.kernels)
    assert not wanted[2], "the gradient of a bias is an operation of its own"
    results: list[Tensor | None] = [None, None, None]
    if arguments["transposed"]:
        if wanted[0]:
            results[0] = convolutions.convolution(g, weight, *settings)
        if wanted[1]:
            results[1] = convolutions.weight_gradient(x, g, kernel, *settings)
    else:
        if wanted[0]:
            results[0] = convolutions.input_gradient(g, weight, x.shape[2:], *settings)
        if wanted[1]:
            results[1] = convolutions.weight_gradient(g, x, kernel, *settings)
    return tuple(results)


def _sum(arguments: Arguments, profile: Profile) -> Tensor:
    axes = arguments.get("dim")
    # Of no axes, torch sums all; a tensor without any lets them be named.
    axes = axes if arguments["self"].dim() else None
    return sums.total(arguments["self"], axes or None, keepdim=arguments.get("keepdim", False))


def _cumsum(arguments: Arguments, profile: Profile) -> Tensor:
    x = arguments["self"]
    return sums.running_total(x, arguments["dim"]) if x.dim() else sums.total(x)


def _embedding_dense_backward(arguments: Arguments, profile: Profile) -> Tensor:
    assert not arguments["scale_grad_by_freq"], "a division is an operation of its own"
    g, rows = arguments["grad_output"], arguments["indices"].reshape(-1)
    count, width = arguments["num_weights"], g.shape[-1]
    found = sums.total_by_place(g.reshape(rows.numel(), width), rows, count, rows.numel())
    if 0 <= arguments["padding_idx"] < count:
        found[arguments["padding_idx"]] = 0
    return found


def _index_add(arguments: Arguments, profile: Profile) -> Tensor:
    assert arguments["alpha"] == 1, "a product is an operation of its own"
    base, source = (x if x.dim() else x[None] for x in (arguments["self"], arguments["source"]))
    axis, index = arguments["dim"], arguments["index"].reshape(-1)
    first = base.movedim(axis, 0)
    # Of nothing the library works out no length.
    width = math.prod(first.shape[1:])
    values = source.movedim(axis, 0).reshape(len(index), width)
    found = sums.total_by_place(values, index, len(first), len(index), first.reshape(len(first), width))
    return found.view(first.shape).movedim(0, axis).reshape(arguments["self"].shape)


def _scatter_add(arguments: Arguments, profile: Profile) -> Tensor:
    base, index, source = (x if x.dim() else x[None] for x in (arguments["self"], arguments["index"], arguments["src"]))
    axis = arguments["dim"] % base.dim()
    # The place of each value is its own but along the axis.
    places = torch.zeros_like(index)
    step = base.numel()
    for number, length in enumerate(base.shape):
        step //= max(length, 1)
        own = torch.arange(index.shape[number], device=index.device).view(-1, *[1] * (base.dim() - number - 1))
        places = places + (index if number == axis else own) * step
    values = source[tuple(slice(0, length) for length in index.shape)]
    flat = sums.total_by_place(
        values.reshape(-1), places.reshape(-1), base.numel(), index.shape[axis], base.reshape(-1)
    )
    return flat.view(arguments["self"].shape)


def _index_put(arguments: Arguments, profile: Profile) -> Tensor:
    assert arguments["accumulate"], "to overwrite is an exact operator, and undefined where two values meet"
    base, indices = arguments["self"], arguments["indices"]
    numbers = torch.arange(base.numel(), device=base.device).view(base.shape)
    places = torch.ops.aten.index.Tensor(numbers, indices)
    values = arguments["values"].expand(places.shape)
    given = [index for index in indices if index is not None]
    assert all(index.dtype != torch.bool for index in given), "how many places a mask has is told by values alone"
    meeting = math.prod(np.broadcast_shapes(*(tuple(index.shape) for index in given)))
    flat = sums.total_by_place(values.reshape(-1), places.reshape(-1), base.numel(), meeting, base.reshape(-1))
    return flat.view(base.shape)


def _max_pool_backward(axes: int) -> Rule:
    def rule(arguments: Arguments, profile: Profile) -> Tensor:
        """Each gradient goes to the place in its plane that the maximum was taken from."""
        x, g, indices = arguments["self"], arguments["grad_output"], arguments["indices"]
        area, met = math.prod(x.shape[-axes:]), math.prod(g.shape[-axes:])
        planes = x.numel() // max(area, 1)
        offsets = torch.arange(planes, device=g.device)[:, None] * area
        places = indices.reshape(planes, met) + offsets
        return sums.total_by_place(g.reshape(-1), places.reshape(-1), x.numel(), met).view(x.shape)

    return rule


def _col2im(arguments: Arguments, profile: Profile) -> Tensor:
    columns = arguments["self"]
    size, kernel, stride, padding, dilation = (
        arguments[name] for name in ("output_size", "kernel_size", "stride", "padding", "dilation")
    )
    blocks = [
        (length + 2 * p - d * (taps - 1) - 1) // s + 1
        for length, taps, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True)
    ]
    leading = columns.shape[:-2]
    channels = columns.shape[-2] // math.prod(kernel)
    shaped = columns.reshape(*leading, channels, *kernel, *blocks)
    windows = shaped.permute(*range(len(leading) + 1), -2, -1, -4, -3)
    return sums.total_of_overlaps(windows, size, stride, padding, dilation)


def _unfold_backward(arguments: Arguments, profile: Profile) -> Tensor:
    g, sizes, step = arguments["grad_in"], arguments["input_sizes"], arguments["step"]
    axis = arguments["dim"] % len(sizes)
    # [..., windows, ..., size] with the windows' axis and that within them last.
    windows = g.movedim(axis, -2)
    found = sums.total_of_overlaps(windows, [sizes[axis]], [step], [0], [1])
    return found.movedim(-1, axis).contiguous()


_RULES: Mapping[str, Rule] = {
    "div": _divide,
    "mm": _mm,
    "bmm": _bmm,
    "mv": _mv,
    "dot": _dot,
    "convolution": _convolution,
    "convolution_backward": _convolution_backward,
    "sum": _sum,
    "cumsum": _cumsum,
    "embedding_dense_backward": _embedding_dense_backward,
    "index_add": _index_add,
    "scatter_add": _scatter_add,
    "index_put": _index_put,
    "max_pool2d_with_indices_backward": _max_pool_backward(2),
    "adaptive_max_pool2d_backward": _max_pool_backward(2),
    "max_pool3d_with_indices_backward": _max_pool_backward(3),
    "col2im": _col2im,
    "unfold_backward": _unfold_backward,
}

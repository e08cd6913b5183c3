"""Sums over elements that indices bring together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.arithmetic.otherwise.rewriting.machine import Arguments, Machine, Rule, rule
from counterfoil_core.base.arrays import Array

_aten = torch.ops.aten


def _onto(m: Machine, base: Array, places: Array, values: Array) -> Array:
    """``base`` with values added at flat places; those below 0 are dropped."""
    flat, moved = places.reshape(-1), np.broadcast_to(values, places.shape).reshape(-1)
    kept = flat >= 0
    result: Array = m.add.met(base.reshape(-1), flat[kept].astype(np.int64), moved[kept]).reshape(base.shape)
    return result


@rule("embedding_dense_backward")
def _embedding_backward(m: Machine, a: Arguments) -> Any:
    g, indices, count = a["grad_output"], a["indices"].reshape(-1), a["num_weights"]
    rows = g.reshape(len(indices), -1)
    width = rows.shape[1]
    used = np.where(indices == a["padding_idx"], -1, indices)
    places = np.where(used[:, None] < 0, -1, used[:, None] * width + np.arange(width))
    out = _onto(m, np.zeros((count, width), g.dtype), places, rows)
    if a["scale_grad_by_freq"]:
        out = out / np.maximum(np.bincount(indices, minlength=count), 1)[:, None]
    return out


@rule("index_put")
def _index_put(m: Machine, a: Arguments) -> Any:
    base = a["self"]
    indices = [None if index is None else torch.from_numpy(index) for index in a["indices"]]
    places = _aten.index.Tensor(torch.arange(base.size).reshape(base.shape), indices).numpy()
    if a["accumulate"]:
        return _onto(m, base, places, a["values"])
    out = base.copy()
    out.reshape(-1)[places] = a["values"]
    return out


def _along(shape: Sequence[int], indices: Array, axis: int) -> Array:
    own = np.indices(indices.shape)
    coordinates = tuple(indices if i == axis else own[i] for i in range(indices.ndim))
    return np.asarray(np.ravel_multi_index(coordinates, shape))


@rule("scatter_add")
def _scatter_add(m: Machine, a: Arguments) -> Any:
    base, index, source = (np.atleast_1d(a[name]) for name in ("self", "index", "src"))
    places = _along(base.shape, index, a["dim"] % base.ndim)
    out = _onto(m, base, places, source[tuple(slice(0, n) for n in index.shape)])
    return out.reshape(a["self"].shape)


@rule("index_add")
def _index_add(m: Machine, a: Arguments) -> Any:
    base, source = np.atleast_1d(a["self"]), np.atleast_1d(a["source"])
    axis = a["dim"] % base.ndim
    along = a["index"].reshape(-1, *(1 for _ in range(base.ndim - axis - 1)))
    places = _along(base.shape, np.broadcast_to(along, source.shape), axis)
    return _onto(m, base, places, source * float(a["alpha"])).reshape(a["self"].shape)


def _planes(axes: int) -> Rule:
    def rule(m: Machine, a: Arguments) -> Any:
        """Each gradient goes to the place, within its plane, that the forward pass took its maximum from."""
        x, g, indices = a["self"], a["grad_output"], a["indices"]
        area = math.prod(x.shape[-axes:])
        flat = indices.reshape(-1, math.prod(indices.shape[-axes:]))
        places = flat + np.arange(len(flat))[:, None] * area
        return _onto(m, np.zeros_like(x), places, g.reshape(flat.shape))

    return rule


rule("max_pool2d_with_indices_backward", "adaptive_max_pool2d_backward")(_planes(2))
rule("max_pool3d_with_indices_backward")(_planes(3))


def _sources(shape: Sequence[int], copy: Callable[[Tensor], Tensor]) -> Array:
    """The flat places, in ``shape``, that an operator which copies elements takes its result from; -1 for none."""
    numbered = torch.arange(1.0, math.prod(shape) + 1.0, dtype=torch.float64).reshape(list(shape))
    return copy(numbered).numpy().astype(np.int64) - 1


@rule("unfold_backward")
def _unfold_backward(m: Machine, a: Arguments) -> Any:
    g, shape = a["grad_in"], a["input_sizes"]
    places = _sources(shape, lambda x: x.unfold(a["dim"], a["size"], a["step"]))
    return _onto(m, np.zeros(shape, g.dtype), places, g)


@rule("col2im")
def _col2im(m: Machine, a: Arguments) -> Any:
    columns, size = a["self"], list(a["output_size"])
    settings = [list(a[name]) for name in ("kernel_size", "dilation", "padding", "stride")]
    channels = columns.shape[-2] // math.prod(settings[0])
    shape = [*columns.shape[:-2], channels, *size]
    places = _sources(shape, lambda x: _aten.im2col.default(x, *settings))
    return _onto(m, np.zeros(shape, columns.dtype), places, columns)


def _padded(name: str) -> Rule:
    def rule(m: Machine, a: Arguments) -> Any:
        """Padding copies elements; their gradients are added up."""
        g, x = a["grad_output"], a["self"]
        forward = getattr(_aten, name).default
        places = _sources(x.shape, lambda numbered: forward(numbered, list(a["padding"])))
        return _onto(m, np.zeros_like(x), places, g)

    return rule


for _name in ("reflection_pad1d", "reflection_pad2d", "replication_pad1d", "replication_pad2d"):
    rule(f"{_name}_backward")(_padded(_name))

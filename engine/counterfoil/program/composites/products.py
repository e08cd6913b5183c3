"""Matrix products and convolutions to which something is added, and sums over an index with a factor.

The product alone is a single operation; factors and what is added are operations of their own, a bias's gradient a sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil.program.composites.terms import is_float, times

_aten = torch.ops.aten


def _plus_product(product: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Any]:
    def decomposed(x: Tensor, left: Tensor, right: Tensor, *, beta: float = 1, alpha: float = 1) -> Any:
        if not is_float(left):
            return NotImplemented
        found = times(product(left, right), alpha)
        # With 0 the library does not look at what is added, which may hold anything.
        return found + times(x, beta) if beta else found

    return decomposed


def _convolution(x: Tensor, weight: Tensor, bias: Tensor | None, *geometry: Any) -> Any:
    if bias is None:
        return NotImplemented
    product = _aten.convolution.default(x, weight, None, *geometry)
    return product + bias.view(-1, *[1] * (weight.dim() - 2))


def _convolution_backward(g: Tensor, x: Tensor, weight: Tensor, bias_sizes: Any, *rest: Any) -> Any:
    *geometry, mask = rest
    if not mask[2]:
        return NotImplemented
    found: Sequence[Tensor | None] = (None, None)
    if mask[0] or mask[1]:
        products = [mask[0], mask[1], False]
        found = _aten.convolution_backward.default(g, x, weight, None, *geometry, products)
    kept = [result if wanted else None for result, wanted in zip(found, mask[:2], strict=False)]
    return (*kept, g.sum([0, *range(2, g.dim())]))


def _index_add(x: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Any:
    if alpha == 1 or not is_float(x):
        return NotImplemented
    return _aten.index_add.default(x, dim, index, source * alpha)


def _embedding_backward(g: Tensor, indices: Tensor, rows: int, padding: int, by_frequency: bool) -> Any:
    if not by_frequency:
        return NotImplemented
    flat = indices.reshape(-1).to(torch.int64)
    counts = torch.zeros(rows, dtype=torch.int64, device=g.device).index_add(0, flat, torch.ones_like(flat))
    met = counts.index_select(0, flat).view(indices.shape).to(torch.float32)
    return _aten.embedding_dense_backward.default(g / met.unsqueeze(-1), indices, rows, padding, False)


TABLE: Mapping[Any, Callable[..., Any]] = {
    _aten.addmm.default: _plus_product(torch.mm),
    _aten.addmv.default: _plus_product(torch.mv),
    _aten.baddbmm.default: _plus_product(torch.bmm),
    _aten.convolution.default: _convolution,
    _aten.convolution_backward.default: _convolution_backward,
    _aten.index_add.default: _index_add,
    _aten.embedding_dense_backward.default: _embedding_backward,
}

"""Products by rows: what a capture for a profile by rows makes of the products of a step (docs/numerics.md).

Under a profile ``exact-S-rows`` a row of a result, so a token or a sample, does not depend on other rows. A matrix that
is an operand has one exponent, which its largest element decides. So operands are divided by powers of two first, after
which the largest element of each row lies in 1 to 2, and each matrix has the exponent 1 whatever its other rows hold;
what was divided by is multiplied afterwards. Both are exact, and the program has the operators for it: nobody who
computes or judges one knows more of it than of others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, fx

import counterfoil_core.operators.own  # noqa: F401  declares torch.ops.counterfoil

_aten = torch.ops.aten
_MOVING = {
    _aten.view.default, _aten._unsafe_view.default, _aten.expand.default, _aten.clone.default, _aten.alias.default,
    _aten.detach.default, _aten.permute.default, _aten.transpose.int, _aten.unsqueeze.default, _aten.squeeze.dim,
    _aten.slice.Tensor,
}  # fmt: skip
"""What hands the elements of its first operand on."""
_KEEPING = {_aten.where.self, _aten.mul.Tensor, _aten.mul.Scalar}
"""What dropout is made of: it hands on the elements of one of its operands, times a number, or zeros."""


class ByRows(fx.Interpreter):
    """Runs a step of single operations, its products by rows.

    Args:
        traced: The step without mutations, composite operators taken apart.
    """

    def run_node(self, n: fx.Node) -> Any:
        """Run a node; a product otherwise than it stands there."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        product = _PRODUCTS.get(n.target)
        if product is None or not args[0].is_floating_point():
            return super().run_node(n)
        with fx.traceback.set_current_meta(n):
            if n.target is _aten.bmm.default and _is_softmax(n.args[0]):
                return _mixture(*args)
            return product(*args, **kwargs)


def row_scale(x: Tensor) -> Tensor:
    """Return the power of two in which the largest magnitude of each row lies: float32 ``[..., 1]`` of ``[..., n]``."""
    scale: Tensor = torch.ops.counterfoil.row_scale(x)
    return scale


def _is_softmax(given: Any) -> bool:
    """Whether a tensor has the elements of a softmax, or zeros: dropout may lie between."""
    ahead, seen = [given], set[fx.Node]()
    while ahead:
        node = ahead.pop()
        if not isinstance(node, fx.Node) or node in seen:
            continue
        seen.add(node)
        if node.target is _aten.div.Tensor and _is_exponential(node.args[0]):
            return True
        ahead += node.args[:1] if node.target in _MOVING else node.args if node.target in _KEEPING else ()
    return False


def _is_exponential(given: Any) -> bool:
    return isinstance(given, fx.Node) and given.target is _aten.exp.default


def _by_rows(product: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """The rows of the left operand divided by their scales, and those of the product multiplied by them."""

    def scaled(left: Tensor, right: Tensor) -> Tensor:
        scale = row_scale(left)
        found = product(left / scale, right)
        return found * (scale if found.dim() == left.dim() else scale.squeeze(-1))

    return scaled


def _batched(left: Tensor, right: Tensor) -> Tensor:
    """The same of a batch; the columns of the right operand, which may be tokens too, divided by theirs."""
    scale = row_scale(right.mT).mT
    return _by_rows(_aten.bmm.default)(left, right / scale) * scale


def _mixture(weights: Tensor, values: Tensor) -> Tensor:
    """A mixture of rows, as attention makes it: the scales of the values' rows are multiplied into their weights."""
    scale = row_scale(values)
    return _by_rows(_aten.bmm.default)(weights * scale.mT, values / scale)


def _sample_scale(x: Tensor) -> Tensor:
    return row_scale(x.reshape(x.shape[0], -1)).view(-1, *[1] * (x.dim() - 1))


def _convolution(x: Tensor, weight: Tensor, bias: None, *geometry: Any) -> Tensor:
    scale = _sample_scale(x)
    found: Tensor = _aten.convolution.default(x / scale, weight, bias, *geometry)
    return found * scale


def _convolution_backward(g: Tensor, x: Tensor, weight: Tensor, sizes: Any, *rest: Any) -> Any:
    """By the input samples stay apart; by the weight they are added to each other."""
    *geometry, mask = rest
    by_input = by_weight = None
    if mask[0]:
        scale, alone = _sample_scale(g), [True, False, False]
        by_input = _aten.convolution_backward.default(g / scale, x, weight, sizes, *geometry, alone)[0] * scale
    if mask[1]:
        by_weight = _aten.convolution_backward.default(g, x, weight, sizes, *geometry, [False, True, False])[1]
    return by_input, by_weight, None


_PRODUCTS: Mapping[Any, Callable[..., Any]] = {
    _aten.mm.default: _by_rows(_aten.mm.default),
    _aten.mv.default: _by_rows(_aten.mv.default),
    _aten.bmm.default: _batched,
    _aten.convolution.default: _convolution,
    _aten.convolution_backward.default: _convolution_backward,
}

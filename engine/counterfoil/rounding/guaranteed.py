"""Guaranteed margins: m of each rounding site from the a-priori error bound of its operator.

Every bound has the form ``|computed - exact| <= factor * gamma_n * S`` with ``gamma_n = n u / (1 - n u)`` (Higham 2002,
section 3.1), u the unit roundoff of the compute dtype, S the operator's scale, and n a number of roundings that follows
from shapes alone. docs/numerics.md derives n and factor for each family and states what they rest on. Two machines
differ by at most twice the bound, S is below 2^(E + 1), and the trainer's and the auditor's logs agree when they differ
by at most 3/4 tau (``OMISSION_SHARE``), so

    m = floor(-log2(4/3 * 2 * 2 * factor * gamma_n)).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from counterfoil.bundle.schema import Precision
from counterfoil.errors import ProgramError
from counterfoil.program.graph import Node, Program, TensorType, map_argument
from counterfoil.rounding.grid import OMISSION_SHARE

ULPS = 8
"""No library function of one element errs by more units in the last place (SLEEF 1 to 1.5, CUDA at most 5)."""
FUNCTION = 2 * ULPS
"""The same in unit roundoffs: an ulp is at most 2 u times the value."""
_UNIT_BITS = {"float64": 53, "float32": 24}
_SCALE_SLACK = 1.0 + 2.0**-8
"""Scales are sums of magnitudes, computed with a relative error far below this."""
_MOMENTS = 16
"""Roundings of a mean and a variance beside those of their sums."""


@dataclass(frozen=True)
class Bound:
    """The error of an operator's output is at most ``factor * gamma_terms * S``."""

    terms: int
    factor: float = 1.0


@dataclass(frozen=True)
class Use:
    """One use of an operator: its kind, arguments by name (tensors as their types), and the types of its outputs."""

    kind: str
    arguments: Mapping[str, Any]
    outputs: Sequence[TensorType | None]

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a tensor argument."""
        shape: tuple[int, ...] = self.arguments[name].shape
        return shape


Family = Callable[[Use], Sequence[Bound | None]]
"""Gives the bound of each output; None in the place of one for which none is known."""


def margin_bits(bound: Bound, compute: str) -> float:
    """Return the largest m, not rounded down, for which ``tau = 2^(E - m)`` guarantees the replay."""
    unit = bound.terms * 2.0 ** -_UNIT_BITS[compute]
    if unit >= 0.5:
        return -math.inf
    agreement = OMISSION_SHARE / (OMISSION_SHARE - 1)
    return -math.log2(agreement * 4 * bound.factor * _SCALE_SLACK * unit / (1 - unit))


def site_margins(program: Program, precision: Precision) -> tuple[int, ...]:
    """Return m for each rounding site of a program.

    Raises:
        ProgramError: Margins are to be guaranteed, and there is no bound for an operator, or it is too large for the
            profile's grid. The message names the operator and its module.
    """
    if not precision.guaranteed:
        return tuple(precision.margin_of(site.kind) for site in program.sites)
    least, most = precision.margin_range
    bounds: dict[int, Sequence[Bound | None]] = {}
    margins = []
    for site in program.sites:
        node = program.nodes[site.node]
        if site.node not in bounds:
            bounds[site.node] = node_bounds(program, node)
        bound = bounds[site.node][site.output]
        if bound is None:
            raise ProgramError(
                f"No error bound is known for the operator {node.where}, so its margin cannot be guaranteed.",
                remedy="Order the job with calibrated margins.",
            )
        bits = margin_bits(bound, precision.compute)
        if bits < least:
            raise ProgramError(
                f"The operator {node.where} adds {bound.terms:,} terms in {precision.compute}; their error bound is "
                f"too large for a guaranteed margin at {precision.significand_bits} significand bits.",
                remedy="Choose a smaller batch, a profile of fewer significand bits, or calibrated margins.",
            )
        margins.append(min(math.floor(bits), most))
    return tuple(margins)


def node_bounds(program: Program, node: Node) -> Sequence[Bound | None]:
    """Return the bound of each output of a rounded operator; None where none is known."""
    types = program.types
    schema = getattr(getattr(torch.ops.aten, node.operator.split(".")[1]), node.operator.split(".")[2])._schema
    convert = partial(_type_of, types)
    named = {argument.name: argument.default_value for argument in schema.arguments if argument.has_default_value()}
    named |= {
        argument.name: map_argument(given, convert)
        for argument, given in zip(schema.arguments, node.args, strict=False)
    }
    named |= {name: map_argument(given, convert) for name, given in node.kwargs}
    return bounds_of(Use(node.entry.kind, named, node.outputs))


def _type_of(types: Sequence[TensorType | None], item: Any) -> Any:
    return types[item.number] if hasattr(item, "number") else item


def bounds_of(use: Use) -> Sequence[Bound | None]:
    """Return the bound of each output of one use of an operator; None where none is known."""
    family = _FAMILIES.get(use.kind)
    return [None] * len(use.outputs) if family is None else family(use)


def _constant(terms: int, factor: float = 1.0) -> Family:
    """Operators whose number of roundings does not depend on shapes."""
    return lambda use: [Bound(terms, factor)] * len(use.outputs)


def _length(use: Use, name: str, dims: Any) -> int:
    shape = use.shape(name)
    if dims is None or dims == []:
        return math.prod(shape)
    return math.prod(shape[axis] for axis in ([dims] if isinstance(dims, int) else dims)) if shape else 1


def _reduced(extra: int) -> Family:
    """Reductions over the axes ``dim`` of ``self``: one rounding for each term, and ``extra``."""
    return lambda use: [Bound(_length(use, "self", use.arguments.get("dim")) + extra)] * len(use.outputs)


def _matrix(use: Use) -> Sequence[Bound]:
    """Matrix products: the inner length; three more for alpha, beta and what is added."""
    name = next(n for n in ("mat2", "batch2", "vec", "tensor") if n in use.arguments)
    shape = use.shape(name)
    return [Bound(shape[0 if len(shape) == 1 else -2] + 3)]


def _convolution(use: Use) -> Sequence[Bound]:
    """Convolutions: input channels of a group times kernel positions, and the bias."""
    weight = use.shape("weight")
    per_output = math.prod(weight[1:])
    if use.arguments["transposed"]:
        per_output = weight[0] // use.arguments["groups"] * math.prod(weight[2:])
    return [Bound(per_output + 1)]


def _convolution_backward(use: Use) -> Sequence[Bound]:
    """Gradients of convolutions: output channels times kernel positions; batch times positions, twice."""
    weight, g, x = use.shape("weight"), use.shape("grad_output"), use.shape("input")
    transposed = use.arguments["transposed"]
    kernel = math.prod(weight[2:])
    to_input = (weight[1] if transposed else weight[0] // use.arguments["groups"]) * kernel
    positions = g[0] * math.prod((x if transposed else g)[2:])
    return [Bound(max(to_input, 1)), Bound(max(positions, 1)), Bound(max(g[0] * math.prod(g[2:]), 1))]


def _vector_norm(use: Use) -> Sequence[Bound | None]:
    """Norms of order 1 and 2, whose terms are not negative: a relative error."""
    order = use.arguments.get("ord", use.arguments.get("p"))
    if order not in (1, 2, None):
        return [None]
    return [Bound(_length(use, "self", use.arguments.get("dim")) + 4)]


def _softmax(use: Use) -> Sequence[Bound]:
    """Softmax: the sum of exponentials, whose arguments err by their distance from the largest."""
    n = use.shape("self")[use.arguments["dim"]] if use.shape("self") else 1
    return [Bound(n + n.bit_length() + 2 * FUNCTION + 16)]


def _log_softmax(use: Use) -> Sequence[Bound]:
    """Log softmax and logsumexp: as softmax; the logarithm's error is absolute, and S is at least log n >= log 2."""
    n = _length(use, "self", use.arguments.get("dim"))
    return [Bound(n + n.bit_length() + 3 * FUNCTION + 16, 1.5)]


def _gradient_along(extra: int) -> Family:
    """Gradients of softmax and log softmax: the sum along the axis."""
    return lambda use: [Bound(_length(use, "grad_output", use.arguments["dim"]) + extra)]


def _division(use: Use) -> Sequence[Bound | None]:
    """Division; one that rounds to an integer jumps, so there is no bound for it."""
    return [Bound(FUNCTION) if use.arguments.get("rounding_mode") is None else None]


def _softplus(use: Use) -> Sequence[Bound | None]:
    """Softplus, relative to the result if nothing is rounded before the exponential."""
    return [Bound(2 * FUNCTION + 8) if use.arguments["beta"] == 1 else None] * len(use.outputs)


def _elu_backward(use: Use) -> Sequence[Bound]:
    """ELU's gradient: the coefficients scale what is added."""
    coefficient = abs(use.arguments["alpha"] * use.arguments["scale"] * use.arguments["input_scale"])
    return [Bound(FUNCTION + 8, max(1.0, float(coefficient)))]


def _variance(use: Use) -> Sequence[Bound]:
    """Variances and deviations by two passes or Welford's updates; var_mean's second output is the mean."""
    n = _length(use, "self", use.arguments.get("dim"))
    correction = use.arguments.get("correction")
    kept = n - (1 if correction is None else correction)
    factor = 16.0 * n / kept if kept > 0 else 16.0
    return [Bound(n + _MOMENTS, factor), Bound(n + _MOMENTS)][: len(use.outputs)]


def _batch_norm(use: Use) -> Sequence[Bound | None]:
    """Batch norm: result, mean, reciprocal deviation, running mean, running variance."""
    n = _per_channel(use.shape("input")) + _MOMENTS
    if use.kind == "_native_batch_norm_legit_no_training":
        return [Bound(16, 2.0), None, None]
    if "running_mean" in use.arguments and not use.arguments["training"]:
        return [None] * len(use.outputs)
    return [Bound(n, 16.0), Bound(n), Bound(n, 8.0), Bound(n), Bound(n, 16.0)][: len(use.outputs)]


def _per_channel(shape: Sequence[int]) -> int:
    return max(math.prod(shape) // max(shape[1], 1), 1)


def _batch_norm_backward(use: Use) -> Sequence[Bound | None]:
    """Gradients of batch norm in training: batch times positions."""
    if not use.arguments["train"]:
        return [None, None, None]
    n = _per_channel(use.shape("input")) + _MOMENTS
    return [Bound(n, 5.0), Bound(n, 2.0), Bound(n)]


def _layer_norm(use: Use) -> Sequence[Bound]:
    """Layer norm: result, mean, reciprocal deviation; a row is what batch norm's channel is."""
    n = math.prod(use.arguments["normalized_shape"]) + _MOMENTS
    return [Bound(n, 16.0), Bound(n), Bound(n, 8.0)]


def _layer_norm_backward(use: Use) -> Sequence[Bound]:
    """Gradients of layer norm: a row for the input's, all rows for weight and bias."""
    length = math.prod(use.arguments["normalized_shape"])
    rows = max(math.prod(use.shape("input")) // max(length, 1), 1)
    return [Bound(length + _MOMENTS, 8.0), Bound(rows + _MOMENTS, 2.0), Bound(rows)]


def _group_norm(use: Use) -> Sequence[Bound]:
    """Group norm: as layer norm, a row for each sample and group."""
    n = math.prod(use.shape("input")) // max(use.arguments["N"] * use.arguments["group"], 1) + _MOMENTS
    return [Bound(n, 16.0), Bound(n), Bound(n, 8.0)]


def _group_norm_backward(use: Use) -> Sequence[Bound]:
    """Gradients of group norm: a sample's group for the input's, batch times positions for weight and bias."""
    n = math.prod(use.shape("input")) // max(use.arguments["N"] * use.arguments["group"], 1) + _MOMENTS
    positions = use.arguments["N"] * use.arguments["HxW"]
    return [Bound(n, 8.0), Bound(positions + _MOMENTS, 4.0), Bound(positions)]


def _loss(use: Use) -> Sequence[Bound]:
    """Losses: one rounding for each term that is added, and those of a term."""
    terms = math.prod(use.shape("target"))
    reduction = use.arguments["reduction"]
    count = terms if reduction else 1
    if use.kind.startswith("nll"):
        # Both the sum of the terms and that of their weights.
        return [Bound(2 * count + 3), Bound(count)]
    largest = max((a for a in use.arguments.values() if isinstance(a, TensorType) and a.floating), key=_elements)
    # The scale of a sum counts the terms along the first axis only.
    rows = largest.shape[0] if largest.shape else 1
    factor = max(1.0, terms / max(rows, 1)) if reduction == 2 else 1.0
    return [Bound(count + 8, factor)]


def _elements(tensor: TensorType) -> int:
    return tensor.elements


def _embedding_backward(use: Use) -> Sequence[Bound]:
    """Embedding gradient: at most all rows meet."""
    return [Bound(math.prod(use.shape("indices")) + 1)]


def _index_put(use: Use) -> Sequence[Bound]:
    """Sums over repeated indices: at most all of them meet, and what was there."""
    shapes = [index.shape for index in use.arguments["indices"] if index is not None]
    axes = max(len(shape) for shape in shapes)
    aligned = [(1,) * (axes - len(shape)) + shape for shape in shapes]
    return [Bound(math.prod(max(lengths) for lengths in zip(*aligned, strict=True)) + 1)]


def _scatter_add(use: Use) -> Sequence[Bound]:
    """The same along one axis."""
    shape = use.shape("index")
    return [Bound((shape[use.arguments["dim"]] if shape else 1) + 1)]


def _index_add(use: Use) -> Sequence[Bound]:
    """The same with a factor."""
    return [Bound(math.prod(use.shape("index")) + 2)]


def _average(use: Use) -> Sequence[Bound | None]:
    """Average pooling: the window's terms and the division."""
    if use.arguments.get("divisor_override") is not None:
        return [None]
    spatial = len(use.shape("self")) - 2
    kernel = use.arguments["kernel_size"]
    return [Bound(math.prod(kernel if len(kernel) > 1 else list(kernel) * spatial) + 1)]


def _adaptive_average(use: Use) -> Sequence[Bound]:
    """Adaptive average pooling: windows of at most ceil(in / out) + 1 along each axis."""
    size = use.arguments["output_size"]
    lengths = use.shape("self")[-len(size) :]
    return [Bound(math.prod(-(-n // max(out, 1)) + 1 for n, out in zip(lengths, size, strict=True)) + 1)]


def _windows(use: Use) -> Sequence[Bound | None]:
    """Gradients of pooling: the windows over one element."""
    if use.arguments.get("divisor_override") is not None:
        return [None]
    kernel = use.arguments["kernel_size"]
    stride = use.arguments.get("stride") or kernel
    spatial = len(use.shape("self")) - 2
    kernels, strides = (list(v) if len(v) > 1 else list(v) * spatial for v in (kernel, stride))
    return [Bound(math.prod(-(-k // s) for k, s in zip(kernels, strides, strict=True)) + 1)]


def _adaptive_windows(use: Use) -> Sequence[Bound]:
    """Gradients of adaptive average pooling: at most ceil(out / in) + 1 windows along each axis."""
    g, x = use.shape("grad_output"), use.shape("self")
    axes = 2 if "2d" in use.kind else 3
    covering = math.prod(-(-out // max(n, 1)) + 1 for out, n in zip(g[-axes:], x[-axes:], strict=True))
    # The scale takes at least 8 windows for granted.
    return [Bound(covering + 1, max(1.0, covering / 8))]


def _each(names: str, family: Family) -> dict[str, Family]:
    return dict.fromkeys(names.split(), family)


_FAMILIES: dict[str, Family] = {
    **_each("mm addmm mv addmv dot bmm baddbmm", _matrix),
    "convolution": _convolution,
    "convolution_backward": _convolution_backward,
    **_each("sum cumsum", _reduced(0)),
    "mean": _reduced(1),
    **_each("linalg_vector_norm norm", _vector_norm),
    **_each("var std var_mean", _variance),
    # Library functions: relative to the result.
    **_each(
        "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc "
        "pow rsqrt sqrt reciprocal atan2",
        _constant(FUNCTION),
    ),
    "div": _division,
    # Functions made of them: relative to the result, which has no cancellation.
    **_each("sigmoid silu glu xlogy elu celu selu", _constant(FUNCTION + 8)),
    "softplus": _softplus,
    "mish": _constant(4 * FUNCTION),
    # Functions with cancellation: relative to arguments and result together.
    **_each("gelu logit", _constant(FUNCTION + 16)),
    "logaddexp": _constant(3 * FUNCTION + 16, 1.5),
    **_each("_softmax _safe_softmax", _softmax),
    **_each("_log_softmax logsumexp", _log_softmax),
    # A few terms.
    **_each("add sub rsub addcmul addcdiv lerp", _constant(6)),
    **_each(
        "tanh_backward sigmoid_backward logit_backward _prelu_kernel "
        "_prelu_kernel_backward mse_loss_backward smooth_l1_loss_backward huber_loss_backward nll_loss_backward "
        "nll_loss2d_backward",
        _constant(8),
    ),
    "elu_backward": _elu_backward,
    "softplus_backward": _constant(FUNCTION + 16),
    **_each("gelu_backward silu_backward", _constant(2 * FUNCTION + 16)),
    "_softmax_backward_data": _gradient_along(4),
    "_log_softmax_backward_data": _gradient_along(FUNCTION + 4),
    **_each(
        "_native_batch_norm_legit_functional _native_batch_norm_legit _native_batch_norm_legit_no_training",
        _batch_norm,
    ),
    "native_batch_norm_backward": _batch_norm_backward,
    "native_layer_norm": _layer_norm,
    "native_layer_norm_backward": _layer_norm_backward,
    "native_group_norm": _group_norm,
    "native_group_norm_backward": _group_norm_backward,
    **_each("nll_loss_forward nll_loss2d_forward mse_loss smooth_l1_loss huber_loss", _loss),
    "embedding_dense_backward": _embedding_backward,
    "index_put": _index_put,
    "scatter_add": _scatter_add,
    "index_add": _index_add,
    **_each("avg_pool1d avg_pool2d avg_pool3d", _average),
    **_each("adaptive_avg_pool1d _adaptive_avg_pool2d _adaptive_avg_pool3d", _adaptive_average),
    **_each("max_pool2d_with_indices_backward max_pool3d_with_indices_backward", _windows),
    **_each("avg_pool2d_backward avg_pool3d_backward", _windows),
    **_each("_adaptive_avg_pool2d_backward _adaptive_avg_pool3d_backward", _adaptive_windows),
}
"""What is not here (docs/numerics.md says why) can be ordered with calibrated margins only."""


def guaranteed_kinds() -> frozenset[str]:
    """The operator kinds for which a bound is known, at least for some of their uses."""
    return frozenset(_FAMILIES)

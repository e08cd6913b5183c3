"""Proven margins: m of each rounding site from the a-priori error bound of its operator.

Every bound has the form ``|computed - exact| <= factor * gamma_n * S`` with ``gamma_n = n u / (1 - n u)`` (Higham 2002,
section 3.1), u the unit roundoff of the compute dtype, S the operator's scale, and n a number of roundings that follows
from shapes alone. docs/numerics.md derives n and factor for each family and states what they rest on. Two machines
differ by at most twice the bound, S is below 2^(E + 1), and the trainer's and the auditor's logs agree when they differ
by at most 3/4 tau (``OMISSION_SHARE``), so the bound proves every m up to

    -log2(4/3 * 2 * 2 * factor * gamma_n).

A bound is that of the form in which the operator is computed: the library's, or one of our own
(:mod:`counterfoil.operators.sums`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from counterfoil.base.cancel import CancelToken
from counterfoil.base.digest import Digest
from counterfoil.base.dtypes import FLOAT_FORMATS
from counterfoil.base.errors import ProgramError
from counterfoil.base.precision import Precision
from counterfoil.base.sentence import say
from counterfoil.kernels.grid import CALIBRATED_STEERABLE, OMISSION_SHARE, PROVEN_STEERABLE
from counterfoil.operators import sums
from counterfoil.operators.node import Node, TensorType
from counterfoil.operators.signatures import defaults_of, signature_of
from counterfoil.program.graph import Program, map_argument

ULPS = 8
"""No library function of one element errs by more units in the last place (SLEEF 1 to 1.5, CUDA at most 5)."""
FUNCTION = 2 * ULPS
"""The same in unit roundoffs: an ulp is at most 2 u times the value."""
_SCALE_SLACK = 1.0 + 2.0**-8
"""Scales are sums of magnitudes, computed with a relative error far below this."""
_MOMENTS = 32
"""Roundings of a mean, a variance and what is made of them beside those of their sums: functions and products."""
_LARGEST_LOGARITHM = 746
"""Largest magnitude of a logarithm of a float64 number, and of an argument whose exponential is one."""


@dataclass(frozen=True)
class Bound:
    """The error of an operator's output is at most ``factor * gamma_terms * S``."""

    terms: int
    factor: float = 1.0


@dataclass(frozen=True)
class Margin:
    """The margin of a rounding site.

    Attributes:
        bits: m.
        proven_bits: The largest m, not rounded down, within which the error bound of the site's operator proves that
            honest machines agree; None where there is no such bound.
    """

    bits: int
    proven_bits: float | None = None

    @property
    def proven(self) -> bool:
        """Whether honest machines provably agree within the margin."""
        return self.proven_bits is not None

    @property
    def steerable(self) -> float:
        """The share of tau beyond which honest machines do not differ: by the bound, or by experience."""
        if self.proven_bits is None:
            return CALIBRATED_STEERABLE
        return PROVEN_STEERABLE * math.exp2(self.bits - self.proven_bits)


@dataclass(frozen=True)
class Use:
    """One use of an operator: its kind, arguments by name (tensors as their types), and the types of its outputs."""

    kind: str
    arguments: Mapping[str, Any]
    outputs: Sequence[TensorType | None]

    @property
    def own_form(self) -> bool:
        """Whether it is computed in a form of our own."""
        return sums.has_own_form(self.kind, self.arguments)

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a tensor argument."""
        shape: tuple[int, ...] = self.arguments[name].shape
        return shape


Family = Callable[[Use], Sequence[Bound | None]]
"""Gives the bound of each output; None in the place of one for which none is known."""


def gamma(terms: int, compute: str) -> float:
    """Return gamma_terms in a compute dtype; infinite where it has none."""
    unit = terms * 2.0 ** -FLOAT_FORMATS[compute].significand_bits
    return unit / (1 - unit) if unit < 0.5 else math.inf


def error_bound(bound: Bound, exponent: int, compute: str) -> float:
    """Return the largest error that a machine can make on an output whose scale has this exponent.

    Args:
        bound: The bound of the output.
        exponent: E = floor(log2 S); S itself is below 2^(E + 1).
        compute: The compute dtype of the profile, by name.
    """
    share = bound.factor * _SCALE_SLACK * gamma(bound.terms, compute)
    return math.ldexp(share, exponent + 1) if math.isfinite(share) else math.inf


def margin_bits(bound: Bound, compute: str) -> float:
    """Return the largest m, not rounded down, for which ``tau = 2^(E - m)`` proves that replay agrees."""
    agreement = OMISSION_SHARE / (OMISSION_SHARE - 1)
    # What adds no terms makes no error: the bound of one does no harm, and has a logarithm.
    share = agreement * 4 * bound.factor * _SCALE_SLACK * gamma(max(bound.terms, 1), compute)
    return -math.log2(share) if math.isfinite(share) else -math.inf


def is_proven(bits: int, bound: Bound, compute: str) -> bool:
    """Return whether a conforming trainer logs every decision that another conforming machine may take otherwise.

    Args:
        bits: m.
        bound: The bound of the output.
        compute: Name of the compute dtype.
    """
    return bits <= margin_bits(bound, compute)


_KEPT = 8
_known: dict[tuple[Digest, Precision], tuple[Margin, ...]] = {}


def site_margins(program: Program, precision: Precision, cancel: CancelToken | None = None) -> tuple[Margin, ...]:
    """Return the margin of each rounding site of a program.

    Under proven margins a site's m is the smaller one of the profile's and the largest that is proven; a site whose
    operator has no bound, or one that does not fit the profile's grid, keeps the profile's. Under calibrated margins
    all sites do. ``cancel`` is looked at between operators.

    Raises:
        ProgramError: An operator does not take its arguments.
        CancelledError: ``cancel`` was set.
    """
    # A step makes a new rounder: the last few programs are remembered.
    key = (program.digest, precision)
    if key not in _known:
        margins = _site_margins(program, precision, cancel)
        while len(_known) >= _KEPT:
            _known.pop(next(iter(_known)), None)
        _known[key] = margins
    return _known[key]


def _site_margins(program: Program, precision: Precision, cancel: CancelToken | None) -> tuple[Margin, ...]:
    least, _ = precision.margin_range
    if not precision.proven:
        return tuple(Margin(precision.margin_of(site.kind)) for site in program.sites)
    bounds = {}
    for number in {site.node for site in program.sites}:
        if cancel is not None:
            cancel.check()
        bounds[number] = node_bounds(program, program.nodes[number])
    margins = []
    for site in program.sites:
        bound = bounds[site.node][site.output]
        bits = -math.inf if bound is None else margin_bits(bound, precision.compute)
        if bits >= least:
            margins.append(Margin(min(math.floor(bits), precision.margin_bits), bits))
        else:
            margins.append(Margin(precision.margin_bits))
    return tuple(margins)


def own_log_margins(program: Program, precision: Precision) -> tuple[Margin, ...]:
    """Return the margins of a log that a machine writes for itself: proven where the grid has room for it."""
    least, _ = precision.margin_range
    result = []
    for site, margin in zip(program.sites, site_margins(program, precision), strict=True):
        bound = node_bounds(program, program.nodes[site.node])[site.output]
        proven = -math.inf if bound is None else margin_bits(bound, precision.compute)
        result.append(margin if bound is None else Margin(min(margin.bits, math.floor(max(proven, least))), proven))
    return tuple(result)


def kinds_without_bound(program: Program, precision: Precision) -> tuple[str, ...]:
    """Return the operator kinds with a rounding site whose margin is not proven, sorted; under calibrated ones all."""
    margins = site_margins(program, precision)
    return tuple(sorted({s.kind for s, margin in zip(program.sites, margins, strict=True) if not margin.proven}))


def node_bounds(program: Program, node: Node) -> Sequence[Bound | None]:
    """Return the bound of each output of a rounded operator; None where none is known.

    Raises:
        ProgramError: The operator does not take such arguments.
    """
    try:
        return bounds_of(_use(program, node))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise ProgramError(say("The operator {0} cannot be computed.", node.where), detail=str(error)) from error


def _use(program: Program, node: Node) -> Use:
    types = program.types
    convert = partial(_type_of, types)
    named = dict(defaults_of(node.operator))
    named |= {
        parameter.name: map_argument(given, convert)
        for parameter, given in zip(signature_of(node.operator).parameters, node.args, strict=False)
    }
    named |= {name: map_argument(given, convert) for name, given in node.kwargs}
    return Use(node.entry.kind, named, node.outputs)


def _type_of(types: Sequence[TensorType | None], item: Any) -> Any:
    return types[item.number] if hasattr(item, "number") else item


def bounds_of(use: Use) -> Sequence[Bound | None]:
    """Return the bound of each output of one use of an operator; None where none is known."""
    family = _FAMILIES.get(use.kind)
    return [None] * len(use.outputs) if family is None else family(use)


def _constant(terms: int, factor: float = 1.0) -> Family:
    """Operators whose number of roundings does not depend on shapes."""
    return lambda use: [Bound(terms, factor)] * len(use.outputs)


def _sum_terms(use: Use, lengths: Sequence[int]) -> int:
    """Additions that a term of a sum over axes of these lengths passes, in the form in which it is computed."""
    return max(sums.blocked_terms(lengths) if use.own_form else math.prod(lengths), 1)


def _sum(use: Use) -> Sequence[Bound]:
    """Sums: one rounding for each addition."""
    return [Bound(_sum_terms(use, sums.reduced_lengths(use.arguments)))]


def _mean(use: Use) -> Sequence[Bound]:
    """Means: the division, or the product with a rounded reciprocal."""
    return [Bound(_sum_terms(use, sums.reduced_lengths(use.arguments)) + FUNCTION)]


def _cumsum(use: Use) -> Sequence[Bound]:
    """Running sums: within blocks, of blocks, and both added."""
    (n,) = sums.reduced_lengths(use.arguments) or (1,)
    block = sums.block_length(n)
    return [Bound(block - (-n // block) + 1 if use.own_form else max(n, 1))]


def _prod(use: Use) -> Sequence[Bound]:
    """Products of significands, and the power of two by which the last is multiplied."""
    return [Bound(math.prod(sums.reduced_lengths(use.arguments)) + 2 * FUNCTION)]


def _vector_norm(use: Use) -> Sequence[Bound]:
    """Norms, whose terms are not negative: a relative error. That of a power is divided again by its root."""
    lengths, order = sums.reduced_lengths(use.arguments), sums.norm_order(use.arguments)
    if order in (0.0, math.inf, -math.inf):
        return [Bound(1)]  # counts, and the largest or smallest element
    if order in (1.0, 2.0):
        # Each block's norm takes a square and a root.
        stages = 2 * max(len(lengths), 1) if use.own_form else 1
        return [Bound(_sum_terms(use, lengths) + stages * (FUNCTION + 2))]
    size = abs(order)
    n = math.prod(lengths)
    powers = sums.blocked_terms(lengths) + FUNCTION * (size + 1) + math.log(max(n, 2))
    return [Bound(math.ceil(powers / size) + FUNCTION + 2)]


def _matrix(use: Use) -> Sequence[Bound]:
    """Matrix products: the inner length; three more for alpha, beta and what is added."""
    n = sums.inner_length(use.arguments)
    return [Bound((sums.in_parts(n, sums.part_length(n)) if use.own_form else n) + 3)]


def _convolution(use: Use) -> Sequence[Bound]:
    """Convolutions: input channels of a group times kernel positions, and the bias."""
    weight = use.shape("weight")
    per_output = math.prod(weight[1:])
    if use.arguments["transposed"]:
        per_output = weight[0] // use.arguments["groups"] * math.prod(weight[2:])
    return [Bound(per_output + 1)]


def _convolution_backward(use: Use) -> Sequence[Bound]:
    """Gradients of convolutions: output channels times kernel positions; batch times positions, twice."""
    weight, g = use.shape("weight"), use.shape("grad_output")
    kernel = math.prod(weight[2:])
    to_input = (weight[1] if use.arguments["transposed"] else weight[0] // use.arguments["groups"]) * kernel
    parts = sums.WeightParts(use.arguments)
    positions = parts.terms if use.own_form else parts.positions
    to_bias = _sum_terms(use, sums.channel_lengths(g))
    return [Bound(max(to_input, 1)), Bound(max(positions, 1)), Bound(to_bias)]


def _softmax(use: Use) -> Sequence[Bound]:
    """Softmax: the sum of exponentials, whose arguments err by their distance from the largest."""
    n = _axis_length(use, "self")
    return [Bound(_sum_terms(use, [n]) + n.bit_length() + 2 * FUNCTION + 16)]


def _axis_length(use: Use, name: str) -> int:
    shape = use.shape(name)
    return shape[use.arguments["dim"]] if shape else 1


def _log_softmax(use: Use) -> Sequence[Bound]:
    """Log softmax and logsumexp: as softmax; the logarithm's error is absolute, and S is at least log n >= log 2."""
    lengths = sums.reduced_lengths(use.arguments)
    return [Bound(_sum_terms(use, lengths) + math.prod(lengths).bit_length() + 3 * FUNCTION + 16, 1.5)]


def _gradient_along(extra: int) -> Family:
    """Gradients of softmax and log softmax: the sum along the axis."""
    return lambda use: [Bound(_sum_terms(use, [_axis_length(use, "grad_output")]) + extra)]


def _softplus(extra: int) -> Family:
    """Softplus and its gradient: beta times x is rounded before the exponential, unless beta is a power of two."""

    def family(use: Use) -> Sequence[Bound]:
        exact = abs(math.frexp(float(use.arguments["beta"]))[0]) == 0.5
        return [Bound(extra + (0 if exact else _LARGEST_LOGARITHM))]

    return family


def _elu_backward(use: Use) -> Sequence[Bound]:
    """ELU's gradient: the coefficients scale what is added."""
    coefficient = abs(use.arguments["alpha"] * use.arguments["scale"] * use.arguments["input_scale"])
    return [Bound(FUNCTION + 8, max(1.0, float(coefficient)))]


def _variance(use: Use) -> Sequence[Bound]:
    """Variances and deviations in two passes; var_mean's second output is the mean."""
    lengths = sums.reduced_lengths(use.arguments)
    count = math.prod(lengths)
    correction = use.arguments.get("correction")
    kept = count - (1 if correction is None else correction)
    factor = 3.0 * count / kept if kept > 0 else 3.0
    terms = sums.blocked_terms(lengths) + _MOMENTS
    return [Bound(terms, factor), Bound(terms)][: len(use.outputs)]


def _batch_norm(use: Use) -> Sequence[Bound]:
    """Batch norm: result, mean, reciprocal deviation, running mean, running variance."""
    if not use.own_form:  # in evaluation: what is saved is empty, and running statistics stay as they are
        return [Bound(FUNCTION + 16, 2.0), *[Bound(1)] * 4][: len(use.outputs)]
    n = sums.blocked_terms(sums.channel_lengths(use.shape("input"))) + _MOMENTS
    return [Bound(n, 2.0), Bound(n), Bound(n), Bound(n), Bound(n, 4.0)][: len(use.outputs)]


def _batch_norm_backward(use: Use) -> Sequence[Bound]:
    """Gradients of batch norm: batch times positions."""
    n = sums.blocked_terms(sums.channel_lengths(use.shape("input")))
    return [Bound(n + _MOMENTS + FUNCTION, 2.0), Bound(n + _MOMENTS, 1.0), Bound(max(n, 1))]


def _layer_norm(use: Use) -> Sequence[Bound]:
    """Layer norm: result, mean, reciprocal deviation; a row is what batch norm's channel is."""
    n = sums.blocked_terms([int(n) for n in use.arguments["normalized_shape"]]) + _MOMENTS
    return [Bound(n, 2.0), Bound(n), Bound(n)]


def _layer_norm_backward(use: Use) -> Sequence[Bound]:
    """Gradients of layer norm: a row for the input's, all rows for weight and bias."""
    shape = use.shape("input")
    outer = len(shape) - len(use.arguments["normalized_shape"])
    length, rows = sums.blocked_terms(shape[outer:]), sums.blocked_terms(shape[:outer])
    return [Bound(length + _MOMENTS + FUNCTION, 2.0), Bound(rows + 8), Bound(max(rows, 1))]


def _group_lengths(use: Use) -> list[int]:
    return [use.arguments["C"] // max(use.arguments["group"], 1), use.arguments["HxW"]]


def _group_norm(use: Use) -> Sequence[Bound]:
    """Group norm: as layer norm, a row for each sample and group."""
    n = sums.blocked_terms(_group_lengths(use)) + _MOMENTS
    return [Bound(n, 2.0), Bound(n), Bound(n)]


def _group_norm_backward(use: Use) -> Sequence[Bound]:
    """Gradients of group norm: a sample's group for the input's, batch and positions for weight and bias."""
    length = sums.blocked_terms(_group_lengths(use))
    rows = sums.blocked_terms([use.arguments["N"], use.arguments["HxW"]])
    return [Bound(length + _MOMENTS + FUNCTION, 2.0), Bound(rows + 8), Bound(max(rows, 1))]


def _loss(use: Use) -> Sequence[Bound]:
    """Losses: one rounding for each addition, and those of a term."""
    lengths = sums.loss_terms(use.arguments)
    count = _sum_terms(use, lengths)
    if use.kind.startswith("nll"):
        # Both the sum of the terms and that of their weights.
        return [Bound(2 * count + FUNCTION + 3), Bound(count)]
    of_a_term = 2 * FUNCTION + 16 if use.kind == "binary_cross_entropy" else 8
    # The scale of a sum counts the terms along the first axis only.
    rows = max(lengths[0] if lengths else 1, 1)
    factor = max(1.0, math.prod(lengths) / rows) if use.arguments["reduction"] == 2 else 1.0
    return [Bound(count + of_a_term + FUNCTION, 1.0 if use.kind == "binary_cross_entropy" else factor)]


def _meeting(extra: int) -> Family:
    """Sums over repeated indices: what can meet, in groups and groups of them, and what was there."""

    def family(use: Use) -> Sequence[Bound]:
        met = sums.meeting(use.kind, use.arguments)
        return [Bound((sums.in_parts(met, sums.block_length(met)) if use.own_form else met) + extra)]

    return family


def _average(use: Use) -> Sequence[Bound]:
    """Average pooling: the window's terms, and a division for each axis that is averaged by itself."""
    lengths = sums.windows(use.kind, use.arguments)
    override = use.arguments.get("divisor_override")
    # With a divisor of one's own the result may be larger than the terms that the scale is made of.
    factor = 1.0 if override is None else max(1.0, math.prod(lengths) / abs(override))
    if use.own_form:
        return [Bound(sum(lengths) + FUNCTION * (len(lengths) + 1), factor)]
    return [Bound(math.prod(lengths) + FUNCTION, factor)]


def _pool_windows(use: Use) -> Sequence[Bound]:
    """Gradients of pooling: the windows over one element."""
    axes = sums.pool_axes(use.kind)
    kernel = sums.spatial(use.arguments["kernel_size"], axes)
    stride = sums.spatial(use.arguments["stride"] or kernel, axes)
    dilation = sums.spatial(use.arguments.get("dilation") or [1], axes)
    override = use.arguments.get("divisor_override")
    return [Bound(math.prod(map(sums.covering, kernel, stride, dilation)) + FUNCTION, max(1.0, 1 / abs(override or 1)))]


def _adaptive_windows(use: Use) -> Sequence[Bound]:
    """Gradients of adaptive pooling: at most ceil(out / in) + 1 windows along each axis."""
    axes = sums.pool_axes(use.kind)
    g, x = use.shape("grad_output"), use.shape("self")
    covering = math.prod(-(-out // max(n, 1)) + 1 for out, n in zip(g[-axes:], x[-axes:], strict=True))
    # The scale takes at least 8 windows for granted.
    return [Bound(covering + FUNCTION, max(1.0, covering / 8))]


def _padding(use: Use) -> Sequence[Bound]:
    """Gradients of padding: the places that an element was copied to."""
    pairs = list(use.arguments["padding"])
    by_axis = [sum(pairs[i : i + 2]) for i in range(0, len(pairs), 2)]
    return [Bound(math.prod(3 if use.kind.startswith("reflection") else 1 + max(n, 0) for n in by_axis))]


def _overlapping(use: Use) -> Sequence[Bound]:
    """Windows put back: as many as lie over one element."""
    if use.kind == "unfold_backward":
        return [Bound(sums.covering(use.arguments["size"], use.arguments["step"], 1))]
    return [Bound(math.prod(sums.spatial(use.arguments["kernel_size"], 2)))]


def _each(names: str, family: Family) -> dict[str, Family]:
    return dict.fromkeys(names.split(), family)


_FAMILIES: dict[str, Family] = {
    **_each("mm addmm mv addmv dot bmm baddbmm", _matrix),
    "convolution": _convolution,
    "convolution_backward": _convolution_backward,
    "sum": _sum,
    "cumsum": _cumsum,
    "mean": _mean,
    "prod": _prod,
    **_each("linalg_vector_norm norm", _vector_norm),
    **_each("var std var_mean", _variance),
    # Library functions: relative to the result.
    **_each(
        "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc "
        "pow rsqrt sqrt reciprocal atan2 div",
        _constant(FUNCTION),
    ),
    # Functions made of them: relative to the result, which has no cancellation.
    **_each("sigmoid silu glu xlogy elu celu selu binary_cross_entropy_backward", _constant(FUNCTION + 8)),
    "softplus": _softplus(2 * FUNCTION + 8),
    "softplus_backward": _constant(FUNCTION + 16),
    "mish": _constant(4 * FUNCTION),
    # Functions with cancellation: relative to arguments and result together.
    "gelu": _constant(FUNCTION + 16),
    "logit": _constant(3 * FUNCTION),
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
    **_each("gelu_backward silu_backward glu_backward", _constant(2 * FUNCTION + 16)),
    "mish_backward": _constant(10 * FUNCTION),
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
    **_each("nll_loss_forward nll_loss2d_forward mse_loss smooth_l1_loss huber_loss binary_cross_entropy", _loss),
    "embedding_dense_backward": _meeting(FUNCTION),
    "index_add": _meeting(2),
    **_each("index_put scatter_add", _meeting(1)),
    **_each("avg_pool1d avg_pool2d avg_pool3d", _average),
    **_each("adaptive_avg_pool1d _adaptive_avg_pool2d _adaptive_avg_pool3d", _average),
    **_each("max_pool2d_with_indices_backward max_pool3d_with_indices_backward", _pool_windows),
    **_each("avg_pool2d_backward avg_pool3d_backward", _pool_windows),
    **_each("_adaptive_avg_pool2d_backward _adaptive_avg_pool3d_backward", _adaptive_windows),
    "adaptive_max_pool2d_backward": _adaptive_windows,
    **_each("reflection_pad1d_backward reflection_pad2d_backward", _padding),
    **_each("replication_pad1d_backward replication_pad2d_backward", _padding),
    **_each("unfold_backward col2im", _overlapping),
}
"""Every rounded kind of the allow-list; docs/numerics.md has the derivations."""


def bounded_kinds() -> frozenset[str]:
    """The operator kinds for which a bound is known."""
    return frozenset(_FAMILIES)

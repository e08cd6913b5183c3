"""The allow-list: every ATen operator that a program may use, with its class and the reason for it.

Three classes (docs/numerics.md):

* **view**: no arithmetic; the output shares or re-labels the input's values.
* **exact**: at most one correctly rounded IEEE-754 operation, or a selection, per element. Identical inputs give
  identical bits on all hardware, so the result is neither rounded nor logged.
* **rounded**: everything else. The result goes to the grid and the close decisions to the log. Each names the rule
  that bounds the size of the terms which were added to make an element (:mod:`counterfoil.arithmetic.grid.scale`).

The list is a security border as well: a bundle comes from a stranger, and the interpreter runs nothing outside it.
Only pure functions of their tensor arguments are here: no operator that writes to an argument, draws random numbers,
reads uninitialised memory, or has a shape that depends on values.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

UNIFORM = "counterfoil.uniform"
"""Numbers in [0, 1), multiples of 2^-24, from Philox4x32-10 (:mod:`counterfoil.arithmetic.compute.draws`)."""
NORMAL = "counterfoil.normal"
"""Numbers of the normal distribution of mean 0 and deviation 1: Box and Muller's, correctly rounded to float32."""
EXPONENTIAL = "counterfoil.exponential"
"""Numbers of the exponential distribution of mean 1: logarithms, correctly rounded to float32."""
DRAWS = frozenset((UNIFORM, NORMAL, EXPONENTIAL))
"""The random operators: every other random number is made of theirs (:mod:`counterfoil.program.torchdraws`)."""


class OperatorClass(Enum):
    """How an operator's floating-point outputs are treated."""

    VIEW = "view"
    EXACT = "exact"
    ROUNDED = "rounded"


@dataclass(frozen=True)
class Operator:
    """One entry of the allow-list.

    Attributes:
        name: Full name, for instance ``aten.mm.default``.
        kind: The name without library and overload, for instance ``mm``; margins are set per kind.
        operator_class: view, exact or rounded.
        reason: Why it may be exact; for views and rounded operators the group it belongs to.
        scale: Name of the scale rule; empty unless rounded.
    """

    name: str
    operator_class: OperatorClass
    reason: str
    scale: str = ""

    @property
    def kind(self) -> str:
        """The name without library and overload."""
        return self.name.split(".")[1]


_VIEWS = """
    view.default _unsafe_view.default _reshape_alias.default reshape.default permute.default transpose.int t.default
    expand.default squeeze.default squeeze.dim squeeze.dims unsqueeze.default slice.Tensor select.int alias.default
    detach.default diagonal.default split.Tensor split_with_sizes.default unbind.int unfold.default narrow.default
    unsafe_split.Tensor unsafe_split_with_sizes.default lift_fresh.default
"""

_EXACT = {
    "one correctly rounded IEEE-754 operation per element": """
        mul.Tensor mul.Scalar neg.default abs.default
    """,
    "one correctly rounded addition per element, because alpha is 1 or -1": """
        add.Tensor add.Scalar sub.Tensor sub.Scalar rsub.Scalar rsub.Tensor
    """,
    "selects one of its inputs": """
        relu.default where.self where.ScalarSelf where.ScalarOther where.Scalar maximum.default minimum.default
        clamp.default clamp.Tensor clamp_min.default clamp_min.Tensor clamp_max.default clamp_max.Tensor
        hardtanh.default hardtanh_backward.default threshold.default threshold_backward.default
        max.default min.default max.dim min.dim amax.default amin.default argmax.default argmin.default
        max_pool2d_with_indices.default max_pool3d_with_indices.default adaptive_max_pool2d.default sort.stable
        masked_fill.Scalar masked_fill.Tensor
    """,
    "selects its input or one correctly rounded product of it": """
        leaky_relu.default leaky_relu_backward.default
    """,
    "comparison or logic, without rounding": """
        eq.Tensor eq.Scalar ne.Tensor ne.Scalar lt.Tensor lt.Scalar le.Tensor le.Scalar gt.Tensor gt.Scalar
        ge.Tensor ge.Scalar logical_and.default logical_or.default logical_not.default logical_xor.default
        bitwise_and.Tensor bitwise_and.Scalar bitwise_or.Tensor bitwise_or.Scalar bitwise_not.default
        bitwise_xor.Tensor bitwise_xor.Scalar isnan.default isinf.default any.default any.dim any.dims all.default
        all.dim
    """,
    "copies values; a change of floating-point dtype is correctly rounded": """
        clone.default _to_copy.default copy.default cat.default stack.default constant_pad_nd.default flip.default
        roll.default repeat.default gather.default index.Tensor index_select.default embedding.default
        select_scatter.default slice_scatter.default diagonal_scatter.default select_backward.default
        slice_backward.default tril.default triu.default lift_fresh_copy.default reflection_pad1d.default
        reflection_pad2d.default replication_pad1d.default replication_pad2d.default reflection_pad3d.default
        replication_pad3d.default pixel_shuffle.default pixel_unshuffle.default im2col.default
        view_copy.default permute_copy.default expand_copy.default unfold_copy.default
    """,
    "writes one constant, so repeated indices do not matter": """
        scatter.value
    """,
    "writes values; of several for one place the last along the axis stays": """
        scatter.src
    """,
    "selects the largest or the smallest of the values for a place": """
        scatter_reduce.two
    """,
    "fills with a constant": """
        full.default full_like.default zeros.default zeros_like.default ones.default ones_like.default
        new_zeros.default new_ones.default new_full.default scalar_tensor.default fill.Scalar eye.default eye.m
    """,
    "rounds to a neighbouring integer or takes the sign, without error": """
        floor.default ceil.default trunc.default round.default sign.default sgn.default frac.default
    """,
    "a quotient, correctly rounded, without its fraction: both by definition": """
        div.Tensor_mode div.Scalar_mode
    """,
    "what a division leaves, without error; at most one correctly rounded addition corrects its sign": """
        fmod.Tensor fmod.Scalar remainder.Tensor remainder.Scalar
    """,
    "counts in integers": """
        arange.default arange.start arange.start_step cumsum.default
    """,
}

_ROUNDED = {
    # rule: operators. The rules and their derivations are in counterfoil.arithmetic.grid.scale.
    "output": """
        exp.default exp2.default expm1.default log.default log2.default log10.default log1p.default
        sin.default cos.default tan.default asin.default acos.default atan.default sinh.default cosh.default
        tanh.default asinh.default acosh.default atanh.default erf.default erfc.default sigmoid.default logit.default
        pow.Tensor_Scalar pow.Tensor_Tensor pow.Scalar rsqrt.default sqrt.default reciprocal.default
        div.Tensor div.Scalar atan2.default xlogy.Tensor silu.default gelu.default mish.default
        elu.default celu.default selu.default softplus.default _softmax.default _safe_softmax.default
    """,
    "terms": """
        add.Tensor add.Scalar sub.Tensor sub.Scalar rsub.Scalar rsub.Tensor addcmul.default addcdiv.default
        lerp.Tensor lerp.Scalar
    """,
    "inputs": """
        tanh_backward.default sigmoid_backward.default silu_backward.default gelu_backward.default
        mish_backward.default elu_backward.default softplus_backward.default logit_backward.default
        glu.default glu_backward.default
        _prelu_kernel.default _prelu_kernel_backward.default
        mse_loss_backward.default smooth_l1_loss_backward.default huber_loss_backward.default
        binary_cross_entropy_backward.default nll_loss_backward.default nll_loss2d_backward.default
        adaptive_avg_pool1d.default avg_pool1d.default avg_pool2d.default avg_pool3d.default
        _adaptive_avg_pool2d.default _adaptive_avg_pool3d.default
        _log_softmax.default logsumexp.default logaddexp.default
    """,
    "mm": "mm.default addmm.default mv.default addmv.default dot.default",
    "bmm": "bmm.default baddbmm.default",
    "convolution": "convolution.default",
    "convolution_backward": "convolution_backward.default",
    "sum": "sum.default sum.dim_IntList",
    "mean": "mean.default mean.dim",
    "cumsum": "cumsum.default",
    "prod": "prod.default prod.dim_int",
    "var": "var.correction var_mean.correction",
    "std": "std.correction",
    "norm": "linalg_vector_norm.default norm.ScalarOpt_dim norm.Scalar",
    "softmax_backward": "_softmax_backward_data.default",
    "log_softmax_backward": "_log_softmax_backward_data.default",
    "batch_norm": """
        _native_batch_norm_legit_functional.default _native_batch_norm_legit.no_stats
        _native_batch_norm_legit_no_training.default
    """,
    "batch_norm_backward": "native_batch_norm_backward.default",
    "layer_norm": "native_layer_norm.default",
    "layer_norm_backward": "native_layer_norm_backward.default",
    "group_norm": "native_group_norm.default",
    "group_norm_backward": "native_group_norm_backward.default",
    "loss": """
        nll_loss_forward.default nll_loss2d_forward.default mse_loss.default smooth_l1_loss.default huber_loss.default
        binary_cross_entropy.default
    """,
    "scatter": """
        embedding_dense_backward.default index_put.default scatter_add.default index_add.default
    """,
    "overlap": """
        max_pool2d_with_indices_backward.default max_pool3d_with_indices_backward.default
        adaptive_max_pool2d_backward.default avg_pool2d_backward.default avg_pool3d_backward.default
        _adaptive_avg_pool2d_backward.default _adaptive_avg_pool3d_backward.default unfold_backward.default
        reflection_pad1d_backward.default reflection_pad2d_backward.default
        replication_pad1d_backward.default replication_pad2d_backward.default col2im.default
    """,
}

_DEPENDS_ON_ALPHA = frozenset(
    f"aten.{name}" for name in ("add.Tensor", "add.Scalar", "sub.Tensor", "sub.Scalar", "rsub.Scalar", "rsub.Tensor")
)

_DECIDING = """
    eq ne lt le gt ge isnan isinf logical_and logical_or logical_xor logical_not any all floor ceil trunc round sign sgn
    frac fmod remainder div.Tensor_mode div.Scalar_mode argmax argmin max.dim min.dim sort max_pool2d_with_indices
    max_pool3d_with_indices adaptive_max_pool2d
"""
_DECIDES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(_DECIDING.split(), (0, 1)),
    **dict.fromkeys(("threshold_backward", "hardtanh_backward", "leaky_relu_backward"), (1,)),
}
"""Operators, by kind or by full name without library, in which a discrete decision hangs on the arguments at these
positions: an ulp there may change a result altogether."""
_CASTS: dict[str, tuple[int, ...]] = {"_to_copy": (0,), "copy": (1,)}
"""The same where the result is not floating-point."""


def decided_arguments(name: str, *, casts_away: bool) -> tuple[int, ...]:
    """Return the positions of the arguments on which a discrete decision of an operator hangs; none for most.

    Args:
        name: Full name of the operator.
        casts_away: Whether its first output is not floating-point.
    """
    library, _, short = name.partition(".")
    if library != "aten":
        return ()
    kind = short.partition(".")[0]
    return _DECIDES.get(short, _DECIDES.get(kind, _CASTS.get(kind, ()) if casts_away else ()))


def _build() -> tuple[dict[str, Operator], dict[str, Operator]]:
    primary: dict[str, Operator] = {}
    fallback: dict[str, Operator] = {}

    def enter(names: str, operator_class: OperatorClass, reason: str, scale: str = "") -> None:
        for short in names.split():
            operator = Operator(f"aten.{short}", operator_class, reason, scale)
            # An operator listed twice is exact under a condition (alpha, integer dtype) and rounded otherwise.
            table = fallback if operator.name in primary else primary
            if operator.name in table:
                raise AssertionError(f"{operator.name} is listed more than twice")
            table[operator.name] = operator

    enter(_VIEWS, OperatorClass.VIEW, "no arithmetic")
    for reason, names in _EXACT.items():
        enter(names, OperatorClass.EXACT, reason)
    for rule, names in _ROUNDED.items():
        enter(names, OperatorClass.ROUNDED, "computed by a library whose last bits depend on the hardware", rule)
    primary[UNIFORM] = Operator(UNIFORM, OperatorClass.EXACT, "integer arithmetic on a counter (Philox4x32-10)")
    for name in (NORMAL, EXPONENTIAL):
        primary[name] = Operator(name, OperatorClass.EXACT, "one correctly rounded function of such integers")
    return primary, fallback


_PRIMARY, _FALLBACK = _build()
ROUNDED_UNLESS_INTEGER = (
    frozenset(
        name for name, entry in {**_PRIMARY, **_FALLBACK}.items() if entry.operator_class is OperatorClass.ROUNDED
    )
    - _DEPENDS_ON_ALPHA
)
"""Names of operators that are rounded, and exact where they compute integers (:mod:`counterfoil.operators.uses`)."""


def is_allowed(name: str) -> bool:
    """Whether an operator is on the allow-list."""
    return name in _PRIMARY


def allowed_names() -> tuple[str, ...]:
    """All names of the allow-list, sorted."""
    return tuple(sorted(_PRIMARY))


def classify(name: str, *, alpha: object = 1, floating: bool = True) -> Operator:
    """Return the allow-list entry that applies to one use of an operator.

    Args:
        name: Full name of the operator.
        alpha: Its argument ``alpha`` where it has one. With any other than 1 or -1 the product may be fused with the
            addition on some hardware and not on other, so the operator is rounded.
        floating: Whether any output is floating-point. Integer arithmetic is the same on all hardware.

    Raises:
        KeyError: The operator is not on the list.
    """
    operator = _PRIMARY[name]
    if not floating:
        if operator.operator_class is OperatorClass.ROUNDED:
            return Operator(name, OperatorClass.EXACT, "integer arithmetic is the same on all hardware")
        return operator
    if name in _FALLBACK and (name not in _DEPENDS_ON_ALPHA or alpha not in (1, -1)):
        return _FALLBACK[name]
    return operator

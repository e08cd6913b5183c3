"""What is known of each operator: operators that work on each element alone, and their gradients."""

from counterfoil_core.operators.bounds import FUNCTION, constant
from counterfoil_core.operators.facts import COMPARES_OR_LOGIC, ONE_OPERATION, SELECTS, Trait, exact, rounded
from counterfoil_core.operators.pointwise import bounds

FACTS = (
    *exact(ONE_OPERATION, "mul.Tensor mul.Scalar", Trait.NUMBER_OR_TENSOR),
    *exact(ONE_OPERATION, "neg.default abs.default"),
    *exact(
        "one correctly rounded addition per element, because alpha is 1 or -1",
        "add.Tensor add.Scalar sub.Tensor sub.Scalar rsub.Scalar rsub.Tensor",
        Trait.BY_ALPHA,
        Trait.INFINITE,
        Trait.NUMBER_OR_TENSOR,
    ),
    *exact(
        SELECTS,
        """
        clamp.default clamp.Tensor clamp_min.default clamp_min.Tensor clamp_max.default clamp_max.Tensor
        hardtanh.default threshold.default
    """,
        Trait.INFINITE,
    ),
    *exact(SELECTS, "relu.default maximum.default minimum.default"),
    *exact(SELECTS, "where.self where.ScalarSelf where.ScalarOther where.Scalar", Trait.VERBATIM),
    *exact(SELECTS, "hardtanh_backward.default threshold_backward.default", Trait.INFINITE, decides=(1,)),
    *exact(SELECTS, "masked_fill.Scalar masked_fill.Tensor", fills=2),
    *exact("selects its input or one correctly rounded product of it", "leaky_relu.default"),
    *exact("selects its input or one correctly rounded product of it", "leaky_relu_backward.default", decides=(1,)),
    *exact(
        COMPARES_OR_LOGIC,
        """
        eq.Tensor eq.Scalar ne.Tensor ne.Scalar lt.Tensor lt.Scalar le.Tensor le.Scalar gt.Tensor gt.Scalar
        ge.Tensor ge.Scalar
    """,
        Trait.COMPARES,
        decides=(0, 1),
    ),
    *exact(
        COMPARES_OR_LOGIC,
        "logical_and.default logical_or.default logical_not.default logical_xor.default isnan.default isinf.default",
        decides=(0, 1),
    ),
    *exact(
        COMPARES_OR_LOGIC,
        """
        bitwise_and.Tensor bitwise_and.Scalar bitwise_or.Tensor bitwise_or.Scalar bitwise_xor.Tensor bitwise_xor.Scalar
    """,
        Trait.TRUTHS,
    ),
    *exact(COMPARES_OR_LOGIC, "bitwise_not.default"),
    *exact(
        "rounds to a neighbouring integer or takes the sign, without error",
        "floor.default ceil.default trunc.default round.default sign.default sgn.default frac.default",
        decides=(0, 1),
    ),
    *exact(
        "a quotient, correctly rounded, without its fraction: both by definition",
        "div.Tensor_mode div.Scalar_mode",
        Trait.NUMBER_OR_TENSOR,
        decides=(0, 1),
    ),
    *exact(
        "what a division leaves, without error; at most one correctly rounded addition corrects its sign",
        "fmod.Tensor fmod.Scalar remainder.Tensor remainder.Scalar",
        Trait.NUMBER_OR_TENSOR,
        decides=(0, 1),
    ),
    # Library functions: relative to the result.
    *rounded(
        "output",
        constant(FUNCTION),
        """
        exp.default exp2.default expm1.default log.default log2.default log10.default log1p.default sin.default
        cos.default tan.default asin.default acos.default atan.default sinh.default cosh.default tanh.default
        asinh.default acosh.default atanh.default erf.default erfc.default rsqrt.default sqrt.default
        reciprocal.default atan2.default
    """,
        Trait.LAST_BIT,
    ),
    *rounded("output", constant(FUNCTION), "div.Tensor div.Scalar", Trait.LAST_BIT, Trait.NUMBER_OR_TENSOR),
    *rounded(
        "output", constant(FUNCTION), "pow.Tensor_Scalar pow.Tensor_Tensor pow.Scalar", Trait.INTEGERS, Trait.LAST_BIT
    ),
    # Functions made of them: relative to the result, which has no cancellation.
    *rounded(
        "output",
        constant(FUNCTION + 8),
        "sigmoid.default silu.default xlogy.Tensor elu.default celu.default selu.default",
        Trait.LAST_BIT,
    ),
    *rounded("output", constant(FUNCTION + 8), "glu.default"),
    *rounded("output", bounds.softplus, "softplus.default", Trait.LAST_BIT),
    *rounded("output", constant(4 * FUNCTION), "mish.default", Trait.LAST_BIT),
    # Functions with cancellation: relative to arguments and result together.
    *rounded("inputs", constant(FUNCTION + 16), "gelu.default", Trait.LAST_BIT),
    *rounded("inputs", constant(3 * FUNCTION), "logit.default", Trait.LAST_BIT),
    *rounded("inputs", constant(3 * FUNCTION + 16, 1.5), "logaddexp.default"),
    # A few terms.
    *rounded("terms", constant(6), "addcmul.default", Trait.INTEGERS, Trait.LAST_BIT),
    *rounded(
        "terms",
        constant(6),
        "addcdiv.default lerp.Tensor lerp.Scalar add.Tensor add.Scalar sub.Tensor sub.Scalar rsub.Scalar rsub.Tensor",
        Trait.LAST_BIT,
    ),
    # Gradients: products and quotients alone, and correctly rounded differences, are relative to the result.
    *rounded(
        "output",
        constant(8),
        "sigmoid_backward.default logit_backward.default _prelu_kernel.default _prelu_kernel_backward.default",
    ),
    *rounded("gradient", constant(8), "tanh_backward.default"),
    *rounded("gradient", constant(FUNCTION + 16), "softplus_backward.default"),
    *rounded("gate_gradient", constant(2 * FUNCTION + 16), "silu_backward.default"),
    *rounded("gate_gradient", constant(10 * FUNCTION), "mish_backward.default"),
    *rounded("gelu_backward", constant(2 * FUNCTION + 16), "gelu_backward.default"),
    *rounded("glu_backward", constant(2 * FUNCTION + 16), "glu_backward.default"),
    *rounded("elu_backward", bounds.elu_backward, "elu_backward.default"),
)

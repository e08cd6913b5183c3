"""Exact profiles in numpy, written from docs/numerics.md, "Exact profiles", alone.

Products and sums are taken of int64 integers, which neither Counterfoil's library nor its float64 does; functions are
bracketed by numpy's float64, and decided by Python's decimal numbers where that cannot tell.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from independent.bundle import Bundle, SiteLog, need
from independent.operators import COMPUTE, axes, windows
from independent.replay import Counts, Replayer, Steps, short

Array = Any
ERROR = 2.0**-46
"""How far a float64 function may lie from the true value, relatively."""
DIGITS = decimal.Context(prec=90, Emin=-(10**6), Emax=10**6)


# One rounding.


def single(value: Fraction) -> float:
    """The float32 number nearest to a rational one, ties to even; every zero is +0."""
    if not value:
        return 0.0
    e = abs(value.numerator).bit_length() - value.denominator.bit_length()
    e -= abs(value) < Fraction(2) ** e
    unit = Fraction(2) ** (max(e, -126) - 23)
    nearest = round(value / unit) * unit
    return math.copysign(math.inf, nearest) if abs(nearest) >= 2**128 else float(nearest) + 0.0


def once(integers: Array, unit: Array) -> Array:
    """``integers * 2^unit`` rounded once; int64 of magnitude 2^62 at most."""
    if np.abs(integers).max(initial=0) <= 2**53:
        # Float64 holds them, and their products with these powers of two.
        with np.errstate(over="ignore"):
            return np.ldexp(integers.astype(np.float64), unit).astype(np.float32) + np.float32(0)
    units = np.broadcast_to(unit, integers.shape)
    pairs = zip(integers.ravel().tolist(), units.ravel().tolist(), strict=True)
    return np.array([single(n * Fraction(2) ** u) for n, u in pairs], np.float32).reshape(integers.shape)


# Quantisation.


def exponent(x: Array, shared: Sequence[int]) -> Array:
    """E: the smallest integer of -148 or more with 2^E > max abs x over the elements that share it."""
    largest = np.abs(x.astype(np.float64)).max(tuple(shared), keepdims=True, initial=0)
    need(np.isfinite(largest).all(), "an infinite value is added or multiplied exactly")
    return np.where(largest == 0, -148, np.frexp(largest)[1])


def quantised(x: Array, bits: int, shared: Sequence[int]) -> tuple[Array, Array]:
    """Q_b: int64 integers, and the exponent of their unit."""
    unit = exponent(x, shared) - bits
    return np.rint(np.ldexp(x.astype(np.float64), -unit)).astype(np.int64), unit


def every(x: Array) -> tuple[int, ...]:
    return tuple(range(x.ndim))


def ceil_log2(n: int) -> int:
    return max(n - 1, 0).bit_length()


def sum_bits(n: int) -> int:
    """b for a sum of n terms."""
    need(n <= 2**29, "a sum of too many terms")
    return min(51, 53 - ceil_log2(n))


# Operations.


def product(left: Array, right: Array, bits: int) -> Array:
    """Of two matrices, or of two batches of them."""
    need(left.shape[-1] <= 2 ** (62 - 2 * bits), "a product of too many terms")
    (a, u), (b, v) = quantised(left, bits, (-2, -1)), quantised(right, bits, (-2, -1))
    return once(a @ b, u + v)


def summed(x: Array, dim: Any, keepdim: bool = False) -> Array:
    over = tuple(axis % x.ndim for axis in axes(x, dim)) if x.ndim else ()
    integers, unit = quantised(x, sum_bits(math.prod(x.shape[axis] for axis in over)), over)
    result = once(integers.sum(over, keepdims=True), unit)
    return result if keepdim else result.reshape([n for axis, n in enumerate(x.shape) if axis not in over])


def convolution(a: Any, bits: int) -> Array:
    assert a.bias is None
    (x, u), (w, v) = quantised(a.input, bits, every(a.input)), quantised(a.weight, bits, every(a.weight))
    return once(np.einsum("nchwij,ocij->nohw", windows(x, a), w), (u + v).reshape(1, 1, 1, 1))


def scattered(g: Array, weight: Array, a: Any) -> Array:
    """The transposed kernel brings ``g`` to the positions of the input."""
    (n, _, h, w), (ph, pw), (sh, sw) = a.input.shape, a.padding, a.stride
    padded = np.zeros((n, weight.shape[1], h + 2 * ph, w + 2 * pw), np.int64)
    for i in range(weight.shape[2]):
        for j in range(weight.shape[3]):
            part = padded[:, :, i : i + sh * g.shape[2] : sh, j : j + sw * g.shape[3] : sw]
            part += np.einsum("nohw,oc->nchw", g, weight[:, :, i, j])
    return padded[:, :, ph : ph + h, pw : pw + w]


def convolution_backward(a: Any, bits: int) -> list[Array]:
    assert not a.output_mask[2]
    g, u = quantised(a.grad_output, bits, every(a.grad_output))
    x, v = quantised(a.input, bits, every(a.input))
    w, t = quantised(a.weight, bits, every(a.weight))
    under = windows(x, a)[:, :, : g.shape[2], : g.shape[3]]
    return [
        once(scattered(g, w, a), u + t) if a.output_mask[0] else None,
        once(np.einsum("nohw,nchwij->ocij", g, under), u + v) if a.output_mask[1] else None,
        None,
    ]


def embedding_backward(a: Any) -> Array:
    assert not a.scale_grad_by_freq
    width = a.grad_output.shape[-1]
    g, unit = quantised(a.grad_output, sum_bits(a.indices.size), every(a.grad_output))
    total = np.zeros((a.num_weights, width), np.int64)
    np.add.at(total, a.indices.ravel(), g.reshape(-1, width))
    if 0 <= a.padding_idx < a.num_weights:
        total[a.padding_idx] = 0
    return once(total, unit.reshape(1, 1))


# Functions.

_one = decimal.Decimal(1)


def _tanh(x: decimal.Decimal) -> decimal.Decimal:
    e = DIGITS.exp(x + x)
    return DIGITS.divide(DIGITS.subtract(e, _one), DIGITS.add(e, _one))


FUNCTIONS: dict[str, tuple[Callable[[Array], Array], Callable[[decimal.Decimal], decimal.Decimal]]] = {
    "exp": (np.exp, DIGITS.exp),
    "log": (np.log, DIGITS.ln),
    "log10": (np.log10, DIGITS.log10),
    "expm1": (np.expm1, lambda x: DIGITS.subtract(DIGITS.exp(x), _one)),
    "log1p": (np.log1p, lambda x: DIGITS.ln(DIGITS.add(x, _one))),
    "sqrt": (np.sqrt, DIGITS.sqrt),
    "rsqrt": (lambda x: 1 / np.sqrt(x), lambda x: DIGITS.divide(_one, DIGITS.sqrt(x))),
    "reciprocal": (lambda x: 1 / x, lambda x: DIGITS.divide(_one, x)),
    "tanh": (np.tanh, _tanh),
    "sigmoid": (
        lambda x: 1 / (1 + np.exp(-x)),
        lambda x: DIGITS.divide(_one, DIGITS.add(_one, DIGITS.exp(-x))),
    ),
}
"""In float64, and with 90 digits."""


def function(name: str, x: Array) -> Array:
    """The correctly rounded values of a function, float32."""
    approximate, precise = FUNCTIONS[name]
    with np.errstate(all="ignore"):
        y = np.asarray(approximate(x.astype(np.float64)))
        low, high = ((y * (1 + sign * ERROR)).astype(np.float32) + np.float32(0) for sign in (-1, 1))
    result = low.reshape(-1)
    for index in np.flatnonzero((low != high) & ~np.isnan(y)):
        value = precise(decimal.Decimal(float(x.reshape(-1)[index])))
        slack = Fraction(value) / 10**80
        found = {single(Fraction(value) + step) for step in (-slack, slack)}
        need(len(found) == 1, "a value on a midpoint")
        (result[index],) = found
    return result.reshape(x.shape)


# Operators.


def floating(x: Any) -> Any:
    """Integers and numbers as float32."""
    return np.asarray(x).astype(np.float32)


def quotient(a: Any) -> Array:
    return floating(a.self) / floating(a.other)


def difference(a: Any) -> Array:
    return floating(a.other) - floating(a.self) if a.alpha == 1 else floating(a.other) + floating(a.self)


def added(a: Any) -> Array:
    return floating(a.self) + floating(a.other) if a.alpha == 1 else floating(a.self) - floating(a.other)


def subtracted(a: Any) -> Array:
    return floating(a.self) - floating(a.other) if a.alpha == 1 else floating(a.self) + floating(a.other)


def _is_floating(*operands: Any) -> bool:
    return any(isinstance(x, float) or getattr(x, "dtype", None) == np.float32 for x in operands)


def _where_floating(exact: Callable[[Any], Array], plain: Callable[[Any], Array]) -> Callable[[Any], Array]:
    return lambda a: (exact if _is_floating(a.self, a.other) else plain)(a)


def _copied(a: Any) -> Array:
    return np.broadcast_to(a.src, a.self.shape)


def operators(bits: int) -> dict[str, Callable[[Any], Any]]:
    """What computes each operator under the profile of these bits."""
    return {
        **COMPUTE,
        **{f"{name}.default": lambda a, name=name: function(name, floating(a.self)) for name in FUNCTIONS},
        "add.Tensor": _where_floating(added, COMPUTE["add.Tensor"]),
        "sub.Tensor": _where_floating(subtracted, COMPUTE["sub.Tensor"]),
        "rsub.Scalar": _where_floating(difference, lambda a: a.other - a.alpha * a.self),
        "mul.Tensor": _where_floating(lambda a: floating(a.self) * floating(a.other), COMPUTE["mul.Tensor"]),
        "div.Tensor": quotient,
        "div.Scalar": quotient,
        "neg.default": lambda a: -a.self,
        "eq.Tensor": lambda a: a.self == a.other,
        "ne.Scalar": lambda a: a.self != a.other,
        "squeeze.dim": lambda a: np.squeeze(a.self, a.dim) if a.self.shape[a.dim] == 1 else a.self,
        "copy.default": _copied,
        "amax.default": lambda a: a.self.max(axes(a.self, a.dim), keepdims=a.keepdim) + np.float32(0),
        "relu.default": lambda a: np.maximum(a.self, np.float32(0)) + np.float32(0),
        "clamp.default": lambda a: np.clip(a.self, a.min, a.max) + a.self.dtype.type(0),
        "counterfoil.row_scale.default": lambda a: np.ldexp(np.float32(1), exponent(a.self, [-1]) - 1),
        "mm.default": lambda a: product(a.self, a.mat2, bits),
        "bmm.default": lambda a: product(a.self, a.mat2, bits),
        "sum.default": lambda a: summed(a.self, None) if a.self.dtype == np.float32 else a.self.sum(),
        "sum.dim_IntList": lambda a: (
            summed(a.self, a.dim, a.keepdim)
            if a.self.dtype == np.float32
            else a.self.sum(axes(a.self, a.dim), keepdims=a.keepdim)
        ),
        "convolution.default": lambda a: convolution(a, bits),
        "convolution_backward.default": lambda a: convolution_backward(a, bits),
        "embedding_dense_backward.default": embedding_backward,
    }


COMPOSITE = frozenset(
    name
    for name in COMPUTE
    if name.split(".")[0]
    in {
        "mean", "linalg_vector_norm", "addmm", "gelu", "gelu_backward", "_softmax", "_log_softmax",
        "_softmax_backward_data", "_log_softmax_backward_data", "nll_loss_forward", "nll_loss_backward",
        "native_layer_norm", "native_layer_norm_backward", "_native_batch_norm_legit_functional",
        "native_batch_norm_backward",
    }
)  # fmt: skip
"""No single operations."""


class ExactReplayer(Steps):
    """Computes what is defined; there is no log."""

    floating = np.float32

    def __init__(self, bundle: Bundle, name: str = "", *, update: bool = False) -> None:
        self.compute = operators(bundle.manifest["precision"]["exact_bits"])
        super().__init__(bundle, name, update=update)
        for node in self.nodes:
            need(short(node) not in COMPOSITE, f"{node['op']} is no single operation")

    def decoded(self, log: bytes) -> list[SiteLog]:
        need(log == b"", "a log under an exact profile")
        return []

    def _rounded(self, node: Any, named: Any, outputs: Any, sites: Iterator[SiteLog], counts: Counts) -> list[Any]:
        for y in outputs:
            held = any(isinstance(v, np.ndarray) and v.dtype.kind == "f" and np.isinf(v).any() for v in named.values())
            need(y is None or not np.isnan(y).any(), "a value that is not a number")
            need(y is None or held or not np.isinf(y).any(), "an infinite value, and no argument is infinite")
        return list(outputs)


def replayer_of(bundle: Bundle, name: str = "", *, update: bool = False) -> Steps:
    """The replayer of a bundle's profile, of its only program or of the one called so, or of its update program."""
    kind = ExactReplayer if "exact_bits" in bundle.manifest["precision"] else Replayer
    return kind(bundle, name, update=update)

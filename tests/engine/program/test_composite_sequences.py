"""The table "Composite operators" of docs/numerics.md, written down a second time: both give the same bits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.functions import evaluate
from counterfoil_core.kernels.exact.products import matmul
from counterfoil_core.kernels.exact.sums import total
from support.definite_reference import same_bits
from support.single import singly

ATEN = torch.ops.aten
GENERATOR = torch.Generator().manual_seed(11)
Sequence = Callable[..., Tensor | tuple[Tensor, ...]]


def n(*shape: int) -> Tensor:
    return torch.randn(shape, generator=GENERATOR)


def number(value: float) -> Tensor:
    """The nearest float32 number, as a tensor."""
    return torch.tensor(value, dtype=torch.float64).to(torch.float32)


def f(kind: str, *operands: Tensor | float) -> Tensor:
    return evaluate(kind, *operands)


def s(x: Tensor, *axes: int, keep: bool = True) -> Tensor:
    return total(x, axes or None, keepdim=keep)


def largest(x: Tensor) -> Tensor:
    return x.amax(1, keepdim=True)


def softmax(x: Tensor) -> Tensor:
    e = f("exp", x - largest(x))
    return e / s(e, 1)


def log_softmax(x: Tensor) -> Tensor:
    z = x - largest(x)
    return z - f("log", s(f("exp", z), 1))


def safe_softmax(x: Tensor) -> Tensor:
    a = largest(x)
    e = f("exp", x - torch.where(a == -math.inf, number(0), a))
    t = s(e, 1)
    return e / torch.where(t == 0, number(1), t)


def logsumexp(x: Tensor) -> Tensor:
    a = largest(x)
    return (f("log", s(f("exp", x - a), 1)) + a)[:, 0]


def logaddexp(x: Tensor, y: Tensor) -> Tensor:
    m = torch.maximum(x, y)
    return m + f("log1p", f("exp", torch.minimum(x, y) - m))


def variance(x: Tensor, correction: float) -> Tensor:
    d = x - s(x, 1) / number(x.shape[1])
    return (s(d * d, 1) / number(x.shape[1] - correction))[:, 0]


def reciprocal_deviation(q: Tensor, count: int) -> Tensor:
    return f("rsqrt", q / number(count) + number(1e-5))


def batch_norm(x: Tensor, w: Tensor, b: Tensor, mean: Tensor, var: Tensor) -> tuple[Tensor, ...]:
    count, shape = x.numel() // 3, (1, 3, 1)
    m = (s(x, 0, 2) / number(count)).reshape(shape)
    d = x - m
    q = s(d * d, 0, 2).reshape(shape)
    r = reciprocal_deviation(q, count)
    out = (d * r) * w.reshape(shape) + b.reshape(shape)
    new = mean + (m.reshape(3) - mean) * number(0.3), var + ((q / number(count - 1)).reshape(3) - var) * number(0.3)
    return out, m.reshape(3), r.reshape(3), *new


def batch_norm_backward(g: Tensor, x: Tensor, w: Tensor, mean: Tensor, rstd: Tensor) -> tuple[Tensor, ...]:
    count, shape = x.numel() // 3, (1, 3, 1)
    h = (x - mean.reshape(shape)) * rstd.reshape(shape)
    a, b = s(g * h, 0, 2), s(g, 0, 2)
    of_input = (g - (h * (a / number(count)) + b / number(count))) * (rstd * w).reshape(shape)
    return of_input, a.reshape(3), b.reshape(3)


def batch_norm_fixed_backward(g: Tensor, x: Tensor, w: Tensor, mean: Tensor, var: Tensor) -> tuple[Tensor, ...]:
    shape = (1, 3, 1)
    r = f("rsqrt", var + number(1e-5))
    h = (x - mean.reshape(shape)) * r.reshape(shape)
    return g * (r * w).reshape(shape), s(g * h, 0, 2).reshape(3), s(g, 0, 2).reshape(3)


def layer_norm(x: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    count = number(x.shape[1])
    m = s(x, 1) / count
    d = x - m
    r = reciprocal_deviation(s(d * d, 1), x.shape[1])
    return (d * r) * w + b, m, r


def layer_norm_backward(g: Tensor, x: Tensor, m: Tensor, r: Tensor, w: Tensor) -> tuple[Tensor, ...]:
    count, h = number(x.shape[1]), (x - m) * r
    k = g * w
    of_input = (k - (h * (s(k * h, 1) / count) + s(k, 1) / count)) * r
    return of_input, s(g * h, 0, keep=False), s(g, 0, keep=False)


def group_norm(x: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    grouped = x.reshape(2, 3, 10)
    m = s(grouped, 2) / number(10)
    d = grouped - m
    r = reciprocal_deviation(s(d * d, 2), 10)
    h = (d * r).reshape(2, 6, 5)
    return h * w[:, None] + b[:, None], m[..., 0], r[..., 0]


def group_norm_backward(g: Tensor, x: Tensor, m: Tensor, r: Tensor, w: Tensor) -> tuple[Tensor, ...]:
    h = ((x.reshape(2, 3, 10) - m[..., None]) * r[..., None]).reshape(2, 6, 5)
    a, b = s(g * h, 2, keep=False), s(g, 2, keep=False)
    whole = [s((part * w).reshape(2, 3, 2), 2) / number(10) for part in (a, b)]
    k = (g * w[:, None]).reshape(2, 3, 10)
    of_input = (k - (h.reshape(2, 3, 10) * whole[0] + whole[1])) * r[..., None]
    return of_input.reshape(2, 6, 5), s(a, 0, keep=False), s(b, 0, keep=False)


ROOT_HALF, ROOT_TWO_PI = number(0.7071067811865476), number(0.3989422804014327)
K = 0.7978845608028654


def chance(x: Tensor) -> Tensor:
    return f("erf", x * ROOT_HALF) * number(0.5) + number(0.5)


def gelu_backward(g: Tensor, x: Tensor) -> Tensor:
    return g * (chance(x) + x * (f("exp", (x * x) * number(-0.5)) * ROOT_TWO_PI))


def tanh_part(x: Tensor) -> Tensor:
    return f("tanh", x * ((x * x) * number(K * 0.044715) + number(K)))


def tanh_gelu(x: Tensor) -> Tensor:
    return x * (tanh_part(x) * number(0.5) + number(0.5))


def tanh_gelu_backward(g: Tensor, x: Tensor) -> Tensor:
    t, q = tanh_part(x), x * x
    c = t * number(0.5) + number(0.5)
    return g * (c + x * ((1 - t * t) * (q * number(1.5 * K * 0.044715) + number(0.5 * K))))


def silu_backward(g: Tensor, x: Tensor) -> Tensor:
    t = f("sigmoid", x)
    return g * (t + (x * t) * (1 - t))


def soft(u: Tensor) -> Tensor:
    return f("log1p", f("exp", -u.abs())) + u.clamp(min=0)


def mish_backward(g: Tensor, x: Tensor) -> Tensor:
    t = f("tanh", soft(x))
    return g * (t + (x * f("sigmoid", x)) * (1 - t * t))


def elu(x: Tensor) -> Tensor:
    low = f("expm1", x.clamp(max=0) * number(0.9)) * number(0.7 * 1.3)
    return torch.where(x > 0, x * number(1.3), low)


def elu_backward(g: Tensor, x: Tensor) -> Tensor:
    slope = f("exp", x.clamp(max=0) * number(0.9)) * number(0.7 * 1.3 * 0.9)
    return torch.where(x > 0, g * number(1.3), g * slope)


def nll(x: Tensor, labels: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    kept = labels != 1
    terms = torch.tensor([-x[i, label] * w[label] if label != 1 else 0.0 for i, label in enumerate(labels)])
    weight = s(torch.where(kept, w[labels], number(0)), keep=False)
    return s(terms, keep=False) / weight, weight


def nll_backward(g: Tensor, x: Tensor, labels: Tensor, w: Tensor, weight: Tensor) -> Tensor:
    result = torch.zeros_like(x)
    for i, label in enumerate(labels):
        if label != 1:
            result[i, label] = (-g / weight) * w[label]
    return result


def binary(x: Tensor, t: Tensor, w: Tensor) -> Tensor:
    one, zero = f("log", x).clamp(min=-100), f("log1p", -x)
    return s(((t - 1) * zero - t * one) * w, keep=False) / number(x.numel())


def binary_backward(g: Tensor, x: Tensor, t: Tensor, w: Tensor) -> Tensor:
    return (((x - t) / ((1 - x) * x).clamp(min=1e-12)) * w) * (g / number(x.numel()))


def smooth(x: Tensor, t: Tensor) -> Tensor:
    a = (x - t).abs()
    terms = torch.where(a < number(0.3), (a * a) * number(0.5 / 0.3), a - number(0.5 * 0.3))
    return s(terms, keep=False) / number(x.numel())


def smooth_backward(g: Tensor, x: Tensor, t: Tensor) -> Tensor:
    d = x - t
    return torch.where(d.abs() < number(0.3), d / number(0.3), d.sign()) * (g / number(x.numel()))


def huber(x: Tensor, t: Tensor) -> Tensor:
    a = (x - t).abs()
    return s(torch.where(a <= number(0.3), (a * a) * number(0.5), (a - number(0.5 * 0.3)) * number(0.3)), keep=False)


def pairs(x: Tensor) -> Tensor:
    return ((x[:, 0] * x[:, 1]) * (x[:, 2] * x[:, 3])) * ((x[:, 4] * x[:, 5]) * x[:, 6])


def addmm(c: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return matmul(a, b, 20) * number(0.3) + c * number(0.7)


def windows(x: Tensor) -> Tensor:
    """Windows of 3, two apart, with one zero on each side."""
    padded = torch.nn.functional.pad(x, (1, 1))
    return torch.stack([s(padded[..., i : i + 3], -1, keep=False) / number(3) for i in range(0, x.shape[-1], 2)], -1)


X, Y, G = n(4, 7), n(4, 7), n(4, 7)
CHANNELS, W3, B3 = n(5, 3, 4), n(3), n(3)
M3, V3 = n(3), n(3).square() + 0.5
GROUPS, W6 = n(2, 6, 5), n(6)
INSIDE, TARGET = torch.rand(4, 7, generator=GENERATOR) * 0.98 + 0.01, torch.rand(4, 7, generator=GENERATOR)
LABELS = torch.tensor([0, 1, 6, 3])
ONE = n().abs()
ON = [True, True, True]
ROWS: dict[str, tuple[Callable[..., Any], Sequence, list[Tensor]]] = {
    "softmax": (lambda x: x.softmax(1), softmax, [X]),
    "gradient of softmax": (
        lambda g, y: ATEN._softmax_backward_data(g, y, 1, torch.float32),
        lambda g, y: (g - s(g * y, 1)) * y,
        [G, X.softmax(1)],
    ),
    "safe softmax": (lambda x: ATEN._safe_softmax(x, 1), safe_softmax, [X.masked_fill(X[:, :1] > 0, -math.inf)]),
    "log softmax": (lambda x: x.log_softmax(1), log_softmax, [X]),
    "gradient of log softmax": (
        lambda g, y: ATEN._log_softmax_backward_data(g, y, 1, torch.float32),
        lambda g, y: g - f("exp", y) * s(g, 1),
        [G, X.log_softmax(1)],
    ),
    "logsumexp": (lambda x: x.logsumexp(1), logsumexp, [X]),
    "logaddexp": (torch.logaddexp, logaddexp, [X, Y]),
    "mean": (lambda x: x.mean(1), lambda x: s(x, 1, keep=False) / number(7), [X]),
    "var": (lambda x: x.var(1), lambda x: variance(x, 1), [X]),
    "std": (lambda x: x.std(1, correction=0), lambda x: f("sqrt", variance(x, 0)), [X]),
    "norm 2": (lambda x: torch.linalg.vector_norm(x, 2), lambda x: f("sqrt", s(x * x, keep=False)), [X]),
    "norm 5": (
        lambda x: torch.linalg.vector_norm(x, 5, dim=1),
        lambda x: f("pow", s(f("pow", x.abs(), 5.0), 1, keep=False), number(1 / 5)),
        [X],
    ),
    "prod": (lambda x: x.prod(1), pairs, [X]),
    "addmm": (lambda c, a, b: torch.addmm(c, a, b, beta=0.7, alpha=0.3), addmm, [n(4, 4), X, n(7, 4)]),
    "addcmul": (
        lambda x, y, z: torch.addcmul(x, y, z, value=0.3),
        lambda x, y, z: x + (y * number(0.3)) * z,
        [X, Y, G],
    ),
    "addcdiv": (
        lambda x, y, z: torch.addcdiv(x, y, z, value=0.3),
        lambda x, y, z: x + (y * number(0.3)) / z,
        [X, Y, G],
    ),
    "lerp": (lambda x, y: torch.lerp(x, y, 0.3), lambda x, y: x + (y - x) * number(0.3), [X, Y]),
    "add with alpha": (lambda x, y: torch.add(x, y, alpha=0.3), lambda x, y: x + y * number(0.3), [X, Y]),
    "pow": (lambda x: x**3 * x**2, lambda x: ((x * x) * x) * (x * x), [X]),
    "batch norm": (
        lambda x, w, b, m, v: ATEN._native_batch_norm_legit_functional(x, w, b, m, v, True, 0.3, 1e-5),
        batch_norm,
        [CHANNELS, W3, B3, M3, V3],
    ),
    "gradients of batch norm": (
        lambda g, x, w, m, r: ATEN.native_batch_norm_backward(g, x, w, None, None, m, r, True, 1e-5, ON),
        batch_norm_backward,
        [n(5, 3, 4), CHANNELS, W3, M3, V3],
    ),
    "gradients of batch norm in evaluation": (
        lambda g, x, w, m, v: ATEN.native_batch_norm_backward(g, x, w, m, v, None, None, False, 1e-5, ON),
        batch_norm_fixed_backward,
        [n(5, 3, 4), CHANNELS, W3, M3, V3],
    ),
    "layer norm": (lambda x, w, b: ATEN.native_layer_norm(x, [7], w, b, 1e-5), layer_norm, [X, n(7), n(7)]),
    "gradients of layer norm": (
        lambda g, x, m, r, w: ATEN.native_layer_norm_backward(g, x, [7], m, r, w, w, ON),
        layer_norm_backward,
        [G, X, n(4, 1), n(4, 1).abs(), n(7)],
    ),
    "group norm": (
        lambda x, w, b: ATEN.native_group_norm(x, w, b, 2, 6, 5, 3, 1e-5),
        group_norm,
        [GROUPS, W6, n(6)],
    ),
    "gradients of group norm": (
        lambda g, x, m, r, w: ATEN.native_group_norm_backward(g, x, m, r, w, 2, 6, 5, 3, ON),
        group_norm_backward,
        [n(2, 6, 5), GROUPS, n(2, 3), n(2, 3).abs(), W6],
    ),
    "gradient of tanh": (ATEN.tanh_backward, lambda g, y: g * (1 - y * y), [G, X]),
    "gradient of sigmoid": (ATEN.sigmoid_backward, lambda g, y: g * (y * (1 - y)), [G, X]),
    "silu": (ATEN.silu, lambda x: x * f("sigmoid", x), [X]),
    "gradient of silu": (ATEN.silu_backward, silu_backward, [G, X]),
    "glu": (lambda x: ATEN.glu(x, 0), lambda x: x[:2] * f("sigmoid", x[2:]), [X]),
    "gradient of glu": (
        lambda g, x: ATEN.glu_backward(g, x, 0),
        lambda g, x: torch.cat(
            (g * f("sigmoid", x[2:]), ((g * f("sigmoid", x[2:])) * (1 - f("sigmoid", x[2:]))) * x[:2])
        ),
        [G[:2], X],
    ),
    "gelu": (ATEN.gelu, lambda x: x * chance(x), [X]),
    "gradient of gelu": (ATEN.gelu_backward, gelu_backward, [G, X]),
    "gelu, tanh": (lambda x: ATEN.gelu(x, approximate="tanh"), tanh_gelu, [X]),
    "gradient of gelu, tanh": (
        lambda g, x: ATEN.gelu_backward(g, x, approximate="tanh"),
        tanh_gelu_backward,
        [G, X],
    ),
    "softplus": (
        lambda x: ATEN.softplus(x, 0.7, 0.5),
        lambda x: torch.where(x * number(0.7) > 0.5, x, soft(x * number(0.7)) / number(0.7)),
        [X],
    ),
    "gradient of softplus": (
        lambda g, x: ATEN.softplus_backward(g, x, 1, 20),
        lambda g, x: g * f("sigmoid", x),
        [G, X],
    ),
    "mish": (ATEN.mish, lambda x: x * f("tanh", soft(x)), [X]),
    "gradient of mish": (ATEN.mish_backward, mish_backward, [G, X]),
    "elu": (lambda x: ATEN.elu(x, 0.7, 1.3, 0.9), elu, [X]),
    "gradient of elu": (lambda g, x: ATEN.elu_backward(g, 0.7, 1.3, 0.9, False, x), elu_backward, [G, X]),
    "logit": (
        lambda x: ATEN.logit(x, 0.2),
        lambda x: f("log", x.clamp(number(0.2), number(0.8)) / (1 - x.clamp(number(0.2), number(0.8)))),
        [INSIDE],
    ),
    "mse": (ATEN.mse_loss, lambda x, t: s((x - t) * (x - t), keep=False) / number(28), [X, Y]),
    "gradient of mse": (
        lambda g, x, t: ATEN.mse_loss_backward(g, x, t, 1),
        lambda g, x, t: (x - t) * ((g / number(28)) * 2),
        [ONE, X, Y],
    ),
    "smooth l1": (lambda x, t: ATEN.smooth_l1_loss(x, t, 1, 0.3), smooth, [X, Y]),
    "gradient of smooth l1": (
        lambda g, x, t: ATEN.smooth_l1_loss_backward(g, x, t, 1, 0.3),
        smooth_backward,
        [ONE, X, Y],
    ),
    "huber": (lambda x, t: ATEN.huber_loss(x, t, 2, 0.3), huber, [X, Y]),
    "gradient of huber": (
        lambda g, x, t: ATEN.huber_loss_backward(g, x, t, 2, 0.3),
        lambda g, x, t: (x - t).clamp(number(-0.3), number(0.3)) * g,
        [ONE, X, Y],
    ),
    "binary cross entropy": (ATEN.binary_cross_entropy, binary, [INSIDE, TARGET, X.abs()]),
    "gradient of binary cross entropy": (
        ATEN.binary_cross_entropy_backward,
        binary_backward,
        [ONE, INSIDE, TARGET, X.abs()],
    ),
    "nll": (lambda x, t, w: ATEN.nll_loss_forward(x, t, w, 1, 1), nll, [X, LABELS, n(7).abs()]),
    "gradient of nll": (
        lambda g, x, t, w, total: ATEN.nll_loss_backward(g, x, t, w, 1, 1, total),
        nll_backward,
        [ONE, X, LABELS, n(7).abs(), n().abs()],
    ),
    "average pooling": (lambda x: torch.nn.functional.avg_pool1d(x, 3, 2, 1), windows, [n(2, 3, 7)]),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_of_the_table(name: str) -> None:
    operator, sequence, args = ROWS[name]
    found, _ = singly(operator, *args, profile=Profile(20))
    written = sequence(*args)
    expected = written if isinstance(written, tuple) else (written,)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.shape == theirs.shape
        assert same_bits(ours.contiguous(), theirs.contiguous())


def test_another_order_of_operations_gives_other_bits() -> None:
    """The control: rows that a reader might take for the same."""
    x, g = n(40, 70), n(40, 70)
    others: list[tuple[Callable[..., Any], Sequence, list[Tensor]]] = [
        (ATEN.silu_backward, lambda g, x: g * (f("sigmoid", x) * (1 + x * (1 - f("sigmoid", x)))), [g, x]),
        (ATEN.sigmoid_backward, lambda g, y: (g * y) * (1 - y), [g, x]),
        (lambda x: x.softmax(1), lambda x: f("exp", log_softmax(x)), [x]),
        (lambda x: x.mean(1), lambda x: s(x, 1, keep=False) * number(1 / 70), [x]),
    ]
    for operator, sequence, args in others:
        found, _ = singly(operator, *args)
        written = sequence(*args)
        assert isinstance(written, Tensor)
        assert not same_bits(found[0].contiguous(), written.contiguous())

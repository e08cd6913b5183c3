"""Error bounds of proven margins, held against exact results on adversarial inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from counterfoil.cli import main
from counterfoil_core.arithmetic.compute.operation import make_operation, native
from counterfoil_core.arithmetic.families.table import SCALES, scale_rule
from counterfoil_core.arithmetic.grid import margin as guaranteed
from counterfoil_core.arithmetic.grid.margin import (
    Margin,
    bounds_of,
    error_bound,
    kinds_without_bound,
    margin_bits,
    site_margins,
)
from counterfoil_core.arithmetic.otherwise.perturbation import PERTURBATIONS, perturb
from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.precision import PROFILES, Precision
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.operators import sums
from counterfoil_core.operators.catalogue import allowed_names, classify
from counterfoil_core.operators.facts import Bound, Use
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.program.graph import Input, Program
from counterfoil_core.values.outcome import Outcome
from support import exact_operators as ex
from support.exact_operators import MP, Exact, each, exact
from support.jobs import audited, digits_order, gpt2_order, record_job
from support.operator_calls import ATEN, listed, operation_of

KINDS = ("plain", "wide", "cancelling", "offset")


def make(kind: str, *shape: int, seed: int = 0) -> Tensor:
    """float64 numbers that are hard to add."""
    rng = np.random.default_rng([seed, *kind.encode()])
    x = rng.standard_normal(shape)
    if kind == "wide":
        x *= 2.0 ** rng.integers(-40, 3, shape)
    elif kind == "cancelling":
        flat = x.reshape(-1)
        flat[1::2] = -flat[: len(flat) - len(flat) % 2 : 2] * (1 + 2.0**-30 * rng.standard_normal(len(flat) // 2))
    elif kind == "offset":
        x = 1000.0 + x * 2.0**-6
    return torch.from_numpy(np.ascontiguousarray(x))


def rounded(x: Tensor) -> Tensor:
    """What the grid leaves of a saved statistic, about."""
    return x.float().double()


Check = tuple[str, list[Any], dict[str, Any], Callable[[], Sequence[Exact | None]]]


def call(name: str, *args: Any, want: Callable[[], Any], **kwargs: Any) -> Check:
    return f"aten.{name}", list(args), kwargs, want


# One maker for each family: it takes the kind of numbers, and gives calls and what they should come to.


def products(kind: str) -> list[Check]:
    a, b, c, v = make(kind, 3, 65, seed=1), make(kind, 65, 4, seed=2), make(kind, 3, 4, seed=3), make(kind, 65, seed=4)
    p, q, r = make(kind, 2, 3, 17, seed=5), make(kind, 2, 17, 2, seed=6), make(kind, 2, 3, 2, seed=7)
    return [
        call("mm.default", a, b, want=lambda: [exact(a) @ exact(b)]),
        call(
            "addmm.default", c, a, b, beta=0.3, alpha=-1.7,
            want=lambda: [exact(c) * MP.mpf(0.3) + (exact(a) @ exact(b)) * MP.mpf(-1.7)],
        ),
        call("mv.default", a, v, want=lambda: [exact(a) @ exact(v)]),
        call("addmv.default", c[:, 0], a, v, want=lambda: [exact(c[:, 0]) + exact(a) @ exact(v)]),
        call("dot.default", v, b[:, 0].contiguous(), want=lambda: [np.array(exact(v) @ exact(b[:, 0]), object)]),
        call("bmm.default", p, q, want=lambda: [np.array([exact(p[i]) @ exact(q[i]) for i in range(2)])]),
        call(
            "baddbmm.default", r, p, q,
            want=lambda: [exact(r) + np.array([exact(p[i]) @ exact(q[i]) for i in range(2)])],
        ),
    ]  # fmt: skip


def convolutions(kind: str) -> list[Check]:
    checks = []
    for transposed, groups, stride, dilation in [(False, 1, 1, 1), (False, 2, 2, 1), (True, 2, 2, 1), (False, 1, 1, 2)]:
        x, w = make(kind, 2, 4, 5, 5, seed=1), make(kind, 4, 4 // groups, 3, 3, seed=2)
        bias = make(kind, 4, seed=3)
        settings = [[stride] * 2, [1, 1], [dilation] * 2]
        args = [*settings, transposed, [0, 0], groups]
        y = ATEN.convolution.default(x, w, bias, *args)
        g = make(kind, *y.shape, seed=4)
        exact_settings = [*settings, groups]
        checks += [
            call(
                "convolution.default", x, w, bias, *args,
                want=lambda x=x, w=w, b=bias, y=y, s=exact_settings, t=transposed: [
                    ex.convolution(exact(x), exact(w), exact(b), tuple(y.shape), s, t)
                ],
            ),
            call(
                "convolution_backward.default", g, x, w, [4], *args, [True, True, True],
                want=lambda g=g, x=x, w=w, s=exact_settings, t=transposed: ex.convolution_backward(
                    exact(g), exact(x), exact(w), s, t
                ),
            ),
        ]  # fmt: skip
    return checks


def reductions(kind: str) -> list[Check]:
    x = make(kind, 7, 61)
    e = exact(x)
    rows, n = e.sum(axis=1, keepdims=True), 61

    def variance(correction: int) -> Exact:
        return ((e - rows / n) ** 2).sum(axis=1) / (n - correction)

    return [
        call("sum.default", x, want=lambda: [np.array(e.sum(), object)]),
        call("sum.dim_IntList", x, [1], want=lambda: [e.sum(axis=1)]),
        call("mean.default", x, want=lambda: [np.array(e.sum() / e.size, object)]),
        call("mean.dim", x, [0], want=lambda: [e.sum(axis=0) / 7]),
        call("cumsum.default", x, 1, want=lambda: [np.add.accumulate(e, axis=1)]),
        call(
            "linalg_vector_norm.default", x, 2, [1],
            want=lambda: [each(MP.sqrt, (e * e).sum(axis=1))],
        ),
        call("norm.ScalarOpt_dim", x, 1, [1], want=lambda: [each(abs, e).sum(axis=1)]),
        call("var.correction", x, [1], correction=1, want=lambda: [variance(1)]),
        call("std.correction", x, [1], correction=1, want=lambda: [each(MP.sqrt, variance(1))]),
        call("var_mean.correction", x, [1], correction=0, want=lambda: [variance(0), rows[:, 0] / n]),
    ]  # fmt: skip


UNARY: dict[str, tuple[Callable[[Any], Any], Callable[[Tensor], Tensor]]] = {
    **{
        name: (getattr(MP, name), lambda x: x.clamp(-30, 30))
        for name in ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asinh", "atan", "erf", "expm1")
    },
    "erfc": (MP.erfc, lambda x: x.clamp(-20, 20)),
    "exp2": (lambda x: MP.mpf(2) ** x, lambda x: x.clamp(-30, 30)),
    "asin": (MP.asin, torch.sin),
    "acos": (MP.acos, torch.sin),
    "atanh": (MP.atanh, lambda x: torch.sin(x) * 0.999),
    "acosh": (MP.acosh, lambda x: 1 + x.abs()),
    "log": (MP.log, lambda x: x.abs() + 2.0**-60),
    "log2": (lambda x: MP.log(x) / MP.log(2), lambda x: x.abs() + 2.0**-60),
    "log10": (MP.log10, lambda x: x.abs() + 2.0**-60),
    "log1p": (lambda x: MP.log(1 + x), lambda x: x.abs()),
    "sqrt": (MP.sqrt, torch.abs),
    "rsqrt": (lambda x: 1 / MP.sqrt(x), lambda x: x.abs() + 2.0**-60),
    "reciprocal": (lambda x: 1 / x, lambda x: x + 2.0**-60),
    "sigmoid": (lambda x: 1 / (1 + MP.exp(-x)), lambda x: x.clamp(-300, 300)),
    "silu": (lambda x: x / (1 + MP.exp(-x)), lambda x: x.clamp(-300, 300)),
    "mish": (lambda x: x * MP.tanh(MP.log(1 + MP.exp(x))), lambda x: x.clamp(-30, 15)),
    "elu": (lambda x: x if x > 0 else MP.expm1(x), torch.clone),
    "celu": (lambda x: x if x > 0 else MP.expm1(x), torch.clone),
    "selu": (
        lambda x: (
            MP.mpf(1.0507009873554804934193349852946)
            * (x if x > 0 else MP.mpf(1.6732632423543772848170429916717) * MP.expm1(x))
        ),
        torch.clone,
    ),
    "softplus": (lambda x: MP.log(1 + MP.exp(x)), lambda x: x.clamp(-30, 19)),
    "logit": (lambda x: MP.log(x / (1 - x)), lambda x: torch.sin(x).abs() * 0.9999 + 2.0**-60),
    "gelu": (lambda x: x * (1 + MP.erf(x / MP.sqrt(2))) / 2, torch.clone),
}


def functions(kind: str) -> list[Check]:
    checks = []
    for name, (function, domain) in UNARY.items():
        x = domain(make(kind, 40, seed=len(name)) * 3)
        want = [lambda f=function, x=x: [each(f, exact(x))]]
        checks.append(call(f"{name}.default", x, want=want[0]))
    x, y = make(kind, 40, seed=1), make(kind, 40, seed=2)
    positive = x.abs() + 2.0**-40
    tanh_form = x.clamp(-12, 12)
    return [
        *checks,
        call("gelu.default", tanh_form, approximate="tanh", want=lambda: [each(_gelu_tanh, exact(tanh_form))]),
        call("div.Tensor", x, y, want=lambda: [exact(x) / exact(y)]),
        call("atan2.default", x, y, want=lambda: [each(MP.atan2, exact(x), exact(y))]),
        call("pow.Tensor_Scalar", positive, 2.5, want=lambda: [each(lambda a: a ** MP.mpf(2.5), exact(positive))]),
        call("xlogy.Tensor", x, positive, want=lambda: [each(lambda a, b: a * MP.log(b), exact(x), exact(positive))]),
        call(
            "logaddexp.default", x, y,
            want=lambda: [each(lambda a, b: MP.log(MP.exp(a) + MP.exp(b)), exact(x), exact(y))],
        ),
        call("glu.default", x.clamp(-300, 300), 0, want=lambda: [_glu(exact(x.clamp(-300, 300)))]),
    ]  # fmt: skip


def _glu(x: Exact) -> Exact:
    half = len(x) // 2
    return x[:half] / (1 + each(MP.exp, -x[half:]))


_BETA = MP.sqrt(2 / MP.pi)
_KAPPA = MP.mpf(0.044715)


def _gelu_tanh(x: Any) -> Any:
    return x * (1 + MP.tanh(_BETA * (x + _KAPPA * x**3))) / 2


def _gelu_tanh_slope(x: Any) -> Any:
    t = MP.tanh(_BETA * (x + _KAPPA * x**3))
    return (1 + t) / 2 + x * (1 - t * t) * _BETA * (1 + 3 * _KAPPA * x * x) / 2


def _gelu_slope(x: Any) -> Any:
    return (1 + MP.erf(x / MP.sqrt(2))) / 2 + x * MP.exp(-x * x / 2) / MP.sqrt(2 * MP.pi)


def _silu_slope(x: Any) -> Any:
    s = 1 / (1 + MP.exp(-x))
    return s * (1 + x * (1 - s))


def slopes(kind: str) -> list[Check]:
    g, x, z = make(kind, 40, seed=1), make(kind, 40, seed=2).clamp(-30, 30), make(kind, 40, seed=3)
    e, f = exact(g), exact(x)
    unit = torch.tanh(x)
    inside = unit.abs() * 0.9 + 0.01
    u, i = exact(unit), exact(inside)
    target = torch.arange(5) % 4
    log_p = make(kind, 5, 4, seed=4)
    one = torch.ones((), dtype=torch.float64) * 0.7
    five = torch.tensor(5.0, dtype=torch.float64)

    def nll() -> list[Exact]:
        result = ex.zeros(5, 4)
        for row, label in enumerate(target.tolist()):
            result[row, label] = -MP.mpf(0.7) / 5
        return [result]

    return [
        call("gelu_backward.default", g, x, want=lambda: [e * each(_gelu_slope, f)]),
        call("gelu_backward.default", g, x, approximate="tanh", want=lambda: [e * each(_gelu_tanh_slope, f)]),
        call("silu_backward.default", g, x, want=lambda: [e * each(_silu_slope, f)]),
        call("tanh_backward.default", g, unit, want=lambda: [e * (1 - u * u)]),
        call("sigmoid_backward.default", g, inside, want=lambda: [e * (1 - i) * i]),
        call("logit_backward.default", g, inside, want=lambda: [e / ((1 - i) * i)]),
        call(
            "elu_backward.default", g, 1.5, 1.0, 1.0, False, x,
            want=lambda: [each(lambda a, b: a if b > 0 else a * MP.mpf(1.5) * MP.exp(b), e, f)],
        ),
        call(
            "softplus_backward.default", g, x, 1.0, 40.0,
            want=lambda: [each(lambda a, b: a / (1 + MP.exp(-b)), e, f)],
        ),
        call("_prelu_kernel.default", x, z, want=lambda: [each(lambda a, b: a if a > 0 else a * b, f, exact(z))]),
        call(
            "_prelu_kernel_backward.default", g, x, z,
            want=lambda: [
                each(lambda a, b, c: a if b > 0 else a * c, e, f, exact(z)),
                each(lambda a, b: MP.mpf(0) if b > 0 else a * b, e, f),
            ],
        ),
        call("mse_loss_backward.default", one, x, z, 1, want=lambda: [MP.mpf(0.7) * 2 * (f - exact(z)) / 40]),
        call(
            "smooth_l1_loss_backward.default", one, x, z, 2, 0.5,
            want=lambda: [MP.mpf(0.7) * each(lambda d: MP.sign(d) if abs(d) >= 0.5 else d * 2, f - exact(z))],
        ),
        call(
            "huber_loss_backward.default", one, x, z, 2, 0.5,
            want=lambda: [MP.mpf(0.7) * each(lambda d: max(min(d, MP.mpf(0.5)), MP.mpf(-0.5)), f - exact(z))],
        ),
        call("nll_loss_backward.default", one, log_p, target, None, 1, -100, five, want=nll),
    ]  # fmt: skip


def few_terms(kind: str) -> list[Check]:
    a, b, c = (make(kind, 40, seed=i) for i in range(3))
    w = torch.sin(c)
    e, f, h, k = exact(a), exact(b), exact(c), exact(w)
    return [
        call("add.Tensor", a, b, alpha=0.3, want=lambda: [e + MP.mpf(0.3) * f]),
        call("sub.Tensor", a, b, alpha=0.3, want=lambda: [e - MP.mpf(0.3) * f]),
        call("rsub.Tensor", a, b, alpha=0.3, want=lambda: [f - MP.mpf(0.3) * e]),
        call("addcmul.default", a, b, c, value=0.7, want=lambda: [e + MP.mpf(0.7) * f * h]),
        call("addcdiv.default", a, b, c, value=0.7, want=lambda: [e + MP.mpf(0.7) * f / h]),
        call("lerp.Tensor", a, b, w, want=lambda: [e + k * (f - e)]),
    ]


def softmaxes(kind: str) -> list[Check]:
    x, g = make(kind, 4, 33, seed=1).clamp(-300, 2000), make(kind, 4, 33, seed=2)
    e, h = exact(x), exact(g)
    y = rounded(torch.softmax(x, 1))
    log_y = rounded(torch.log_softmax(x, 1))

    def total(values: Exact) -> Exact:
        return values.sum(axis=1, keepdims=True)

    def log_total() -> Exact:
        return each(MP.log, total(each(MP.exp, e)))

    return [
        call("_softmax.default", x, 1, False, want=lambda: [ex.softmax(e)]),
        call("_safe_softmax.default", x, 1, want=lambda: [ex.softmax(e)]),
        call("_log_softmax.default", x, 1, False, want=lambda: [e - log_total()]),
        call("logsumexp.default", x, [1], want=lambda: [log_total()[:, 0]]),
        call(
            "_softmax_backward_data.default", g, y, 1, torch.float64,
            want=lambda: [exact(y) * (h - total(h * exact(y)))],
        ),
        call(
            "_log_softmax_backward_data.default", g, log_y, 1, torch.float64,
            want=lambda: [h - each(MP.exp, exact(log_y)) * total(h)],
        ),
    ]  # fmt: skip


def batch_norms(kind: str) -> list[Check]:
    x, w, b, g = make(kind, 8, 3, 5, seed=1), make("plain", 3, seed=2), make("plain", 3, seed=3), make(kind, 8, 3, 5)
    rm, rv = make("plain", 3, seed=4), make("plain", 3, seed=5).abs()
    _, mean, rstd = ATEN._native_batch_norm_legit.no_stats(x, w, b, True, 0.1, 1e-5)
    mean, rstd = rounded(mean), rounded(rstd)

    def rows(t: Tensor) -> Exact:
        return exact(t.transpose(0, 1).reshape(3, -1))

    def back(values: Exact) -> Exact:
        return values.reshape(3, 8, 5).transpose(1, 0, 2)

    def column(t: Tensor) -> Exact:
        return exact(t).reshape(-1, 1)

    def forward() -> list[Exact]:
        mu, _, r = ex.moments(rows(x), 1e-5)
        return [back((rows(x) - mu) * r * column(w) + column(b)), mu[:, 0], r[:, 0]]

    def functional() -> list[Exact]:
        mu, var, _ = ex.moments(rows(x), 1e-5)
        momentum = MP.mpf(0.1)
        new_mean = (1 - momentum) * exact(rm) + momentum * mu[:, 0]
        return [*forward(), new_mean, (1 - momentum) * exact(rv) + momentum * var[:, 0] * 40 / 39]

    def evaluated() -> list[Exact | None]:
        r = each(lambda v: 1 / MP.sqrt(v + MP.mpf(1e-5)), column(rv))
        return [back((rows(x) - column(rm)) * r * column(w) + column(b)), None, None]

    def backward() -> list[Exact]:
        mu, r = column(mean), column(rstd)
        gx = ex.norm_gradient(rows(g), rows(x), mu, r) * column(w)
        return [back(gx), (rows(g) * (rows(x) - mu)).sum(axis=1) * exact(rstd), rows(g).sum(axis=1)]

    return [
        call("_native_batch_norm_legit.no_stats", x, w, b, True, 0.1, 1e-5, want=forward),
        call("_native_batch_norm_legit_functional.default", x, w, b, rm, rv, True, 0.1, 1e-5, want=functional),
        call("_native_batch_norm_legit_no_training.default", x, w, b, rm, rv, 0.1, 1e-5, want=evaluated),
        call("native_batch_norm_backward.default", g, x, w, rm, rv, mean, rstd, True, 1e-5, [True] * 3, want=backward),
    ]


def row_norms(kind: str) -> list[Check]:
    x, g = make(kind, 6, 20, seed=1), make(kind, 6, 20, seed=2)
    w, b = make("plain", 20, seed=3), make("plain", 20, seed=4)
    _, mean, rstd = ATEN.native_layer_norm(x, [20], w, b, 1e-5)
    mean, rstd = rounded(mean), rounded(rstd)
    e, h = exact(x), exact(g)

    def forward() -> list[Exact]:
        mu, _, r = ex.moments(e, 1e-5)
        return [(e - mu) * r * exact(w) + exact(b), mu, r]

    def backward() -> list[Exact]:
        centred = (e - exact(mean)) * exact(rstd)
        gx = ex.norm_gradient(h * exact(w), e, exact(mean), exact(rstd))
        return [gx, (h * centred).sum(axis=0), h.sum(axis=0)]

    images, gradient = x.reshape(2, 6, 10), g.reshape(2, 6, 10)
    wc, bc = make("plain", 6, seed=5), make("plain", 6, seed=6)
    _, gmean, grstd = ATEN.native_group_norm(images, wc, bc, 2, 6, 10, 3, 1e-5)
    gmean, grstd = rounded(gmean), rounded(grstd)
    channel = exact(wc).reshape(1, 6, 1)

    def group_forward() -> list[Exact]:
        mu, _, r = ex.moments(exact(images).reshape(6, 20), 1e-5)
        y = ((exact(images).reshape(6, 20) - mu) * r).reshape(2, 6, 10)
        return [y * channel + exact(bc).reshape(1, 6, 1), mu.reshape(2, 3), r.reshape(2, 3)]

    def group_backward() -> list[Exact]:
        mu, r = exact(gmean).reshape(6, 1), exact(grstd).reshape(6, 1)
        weighted = (exact(gradient) * channel).reshape(6, 20)
        gx = ex.norm_gradient(weighted, exact(images).reshape(6, 20), mu, r).reshape(2, 6, 10)
        centred = ((exact(images).reshape(6, 20) - mu) * r).reshape(2, 6, 10)
        return [gx, (exact(gradient) * centred).sum(axis=(0, 2)), exact(gradient).sum(axis=(0, 2))]

    return [
        call("native_layer_norm.default", x, [20], w, b, 1e-5, want=forward),
        call("native_layer_norm_backward.default", g, x, [20], mean, rstd, w, b, [True] * 3, want=backward),
        call("native_group_norm.default", images, wc, bc, 2, 6, 10, 3, 1e-5, want=group_forward),
        call(
            "native_group_norm_backward.default", gradient, images, gmean, grstd, wc, 2, 6, 10, 3, [True] * 3,
            want=group_backward,
        ),
    ]  # fmt: skip


def losses(kind: str) -> list[Check]:
    x, t, w = make(kind, 9, 4, seed=1), make(kind, 9, 4, seed=2), make("plain", 4, seed=3).abs()
    labels = torch.arange(9) * 3 % 4
    chosen = exact(x)[np.arange(9), labels.numpy()]
    weights = exact(w)[labels.numpy()]
    d = exact(x) - exact(t)
    image = make(kind, 2, 3, 4, 5, seed=4)
    target = (torch.arange(40) % 3).reshape(2, 4, 5)
    picked = np.array([exact(image)[n, target[n, i, j], i, j] for n, i, j in np.ndindex(2, 4, 5)], object)
    smooth = each(lambda v: v * v if abs(v) < 0.5 else abs(v) - MP.mpf(0.25), d)
    huber = each(lambda v: v * v / 2 if abs(v) <= 0.5 else (abs(v) - MP.mpf(0.25)) / 2, d)
    return [
        call(
            "nll_loss_forward.default", x, labels, w, 1, -100,
            want=lambda: [np.array(-(chosen * weights).sum() / weights.sum()), np.array(weights.sum())],
        ),
        call(
            "nll_loss2d_forward.default", image, target, None, 2, -100,
            want=lambda: [np.array(-picked.sum()), np.array(MP.mpf(40))],
        ),
        call("mse_loss.default", x, t, 1, want=lambda: [np.array((d * d).sum() / 36)]),
        call("mse_loss.default", x, t, 2, want=lambda: [np.array((d * d).sum())]),
        call("smooth_l1_loss.default", x, t, 1, 0.5, want=lambda: [np.array(smooth.sum() / 36)]),
        call("huber_loss.default", x, t, 2, 0.5, want=lambda: [np.array(huber.sum())]),
    ]  # fmt: skip


def scatters(kind: str) -> list[Check]:
    g, base = make(kind, 60, 3, seed=1), make(kind, 5, 3, seed=2)
    indices = torch.arange(60) ** 2 % 5
    places = list(indices.tolist())
    rows = list(exact(g))
    wide = torch.stack([indices, (indices + 1) % 5, (indices * 2) % 5], 1)
    spots = [(int(wide[i, j]), j) for i, j in np.ndindex(60, 3)]
    return [
        call(
            "embedding_dense_backward.default", g, indices, 5, -1, False,
            want=lambda: [ex.accumulate(ex.zeros(5, 3), places, rows)],
        ),
        call(
            "index_put.default", base, [indices], g, True,
            want=lambda: [ex.accumulate(exact(base), places, rows)],
        ),
        call(
            "index_add.default", base, 0, indices, g, alpha=0.7,
            want=lambda: [ex.accumulate(exact(base), places, [row * MP.mpf(0.7) for row in rows])],
        ),
        call(
            "scatter_add.default", base, 0, wide, g,
            want=lambda: [ex.accumulate(exact(base), spots, list(exact(g).ravel()))],
        ),
    ]  # fmt: skip


def pools(kind: str) -> list[Check]:
    x = make(kind, 1, 2, 7, 7, seed=1)
    e = exact(x)

    def windows(length: int, out: int) -> list[slice]:
        return [slice(i * length // out, -(-(i + 1) * length // out)) for i in range(out)]

    fixed = [slice(2 * i, 2 * i + 3) for i in range(3)]

    def forward(cuts: list[slice]) -> Exact:
        result = ex.zeros(1, 2, len(cuts), len(cuts))
        for c, i, j in np.ndindex(2, len(cuts), len(cuts)):
            window = e[0, c, cuts[i], cuts[j]]
            result[0, c, i, j] = window.sum() / window.size
        return result

    def backward(g: Tensor, cuts: list[slice]) -> Exact:
        result = ex.zeros(1, 2, 7, 7)
        for c, i, j in np.ndindex(2, len(cuts), len(cuts)):
            window = result[0, c, cuts[i], cuts[j]]
            window += exact(g)[0, c, i, j] / window.size
        return result

    out, indices = ATEN.max_pool2d_with_indices(x, [3, 3], [1, 1])
    g5, g3, g4 = make(kind, *out.shape, seed=2), make(kind, 1, 2, 3, 3, seed=3), make(kind, 1, 2, 4, 4, seed=4)

    def most() -> Exact:
        spots = [(0, c, *divmod(int(indices[0, c, i, j]), 7)) for c, i, j in np.ndindex(2, 5, 5)]
        return ex.accumulate(ex.zeros(1, 2, 7, 7), spots, list(exact(g5).ravel()))

    def line() -> Exact:
        return np.stack([e[0, :, :, cut].sum(axis=2) / (cut.stop - cut.start) for cut in windows(7, 4)], -1)[None]

    return [
        call("avg_pool2d.default", x, [3, 3], [2, 2], want=lambda: [forward(fixed)]),
        call("_adaptive_avg_pool2d.default", x, [4, 4], want=lambda: [forward(windows(7, 4))]),
        call("adaptive_avg_pool1d.default", x[0], [4], want=lambda: [line()[0]]),
        call(
            "max_pool2d_with_indices_backward.default", g5, x, [3, 3], [1, 1], [0, 0], [1, 1], False, indices,
            want=lambda: [most()],
        ),
        call(
            "avg_pool2d_backward.default", g3, x, [3, 3], [2, 2], [0, 0], False, True, None,
            want=lambda: [backward(g3, fixed)],
        ),
        call("_adaptive_avg_pool2d_backward.default", g4, x, want=lambda: [backward(g4, windows(7, 4))]),
    ]  # fmt: skip


def more_reductions(kind: str) -> list[Check]:
    x = make(kind, 5, 6, 11)
    e = exact(x)
    tiny = x / x.abs().max() * 2.0**-90
    # Partial products leave float64's range, whole ones do not.
    far = x * 2.0 ** torch.tensor([-300.0] * 5 + [0.0] + [300.0] * 5, dtype=torch.float64)

    def power(order: float, values: Exact) -> Exact:
        total = each(lambda a: abs(a) ** MP.mpf(order), values).sum(axis=(0, 2))
        return each(lambda a: a ** (1 / MP.mpf(order)), total)

    return [
        call("sum.dim_IntList", x, [0, 2], True, want=lambda: [e.sum(axis=(0, 2), keepdims=True)]),
        call("cumsum.default", x, 1, want=lambda: [np.add.accumulate(e, axis=1)]),
        call("linalg_vector_norm.default", x, want=lambda: [np.array(MP.sqrt((e * e).sum()), object)]),
        *(
            call("linalg_vector_norm.default", x, order, [0, 2], want=lambda order=order: [power(order, e)])
            for order in (3, 2.5, 0.5, -1.5)
        ),
        call("linalg_vector_norm.default", x, math.inf, [0, 2], want=lambda: [each(abs, e).max(axis=(0, 2))]),
        call("linalg_vector_norm.default", x, 0, [0, 2], want=lambda: [ex.zeros(6) + 55]),
        call("norm.Scalar", tiny, 40, want=lambda: [power(40, exact(tiny).reshape(-1, 1, 1))[0]]),
        call("prod.default", x[0, :3], want=lambda: [np.array(np.multiply.reduce(e[0, :3].ravel()), object)]),
        call("prod.dim_int", far, 2, True, want=lambda: [np.multiply.reduce(exact(far), axis=2)[..., None]]),
        call("prod.dim_int", far.flip(2), 2, want=lambda: [np.multiply.reduce(exact(far), axis=2)]),
        call(
            "var_mean.correction", x, [0, 2], correction=0, keepdim=True,
            want=lambda: [
                ((e - e.sum(axis=(0, 2), keepdims=True) / 55) ** 2).sum(axis=(0, 2), keepdims=True) / 55,
                e.sum(axis=(0, 2), keepdims=True) / 55,
            ],
        ),
    ]  # fmt: skip


def more_functions(kind: str) -> list[Check]:
    g, x = make(kind, 40, seed=1), make(kind, 40, seed=2).clamp(-30, 30)
    e, f = exact(g), exact(x)
    beta = 0.7
    below = x.clamp(-30, 19)
    p, t = torch.sin(x).abs() * 0.999 + 2.0**-60, torch.sin(g).abs()
    w = make("plain", 40, seed=3).abs()
    one = torch.ones((), dtype=torch.float64) * 0.7
    constant = MP.mpf(float(np.float32(1e-12)))

    def softplus(a: Any) -> Any:
        return MP.log(1 + MP.exp(a * MP.mpf(beta))) / MP.mpf(beta)

    def mish_slope(a: Any) -> Any:
        tanh, sigmoid = MP.tanh(MP.log(1 + MP.exp(a))), 1 / (1 + MP.exp(-a))
        return tanh + a * sigmoid * (1 - tanh * tanh)

    def glu_gradient() -> Exact:
        first, second = f[:20], f[20:]
        sigmoid = each(lambda a: 1 / (1 + MP.exp(-a)), second)
        return np.concatenate([e[:20] * sigmoid, e[:20] * first * sigmoid * (1 - sigmoid)])

    def entropy_of(a: Any, b: Any, c: Any) -> Any:
        return -c * (b * max(MP.log(a), -100) + (1 - b) * max(MP.log(1 - a), -100))

    def entropy() -> Exact:
        return each(entropy_of, exact(p), exact(t), exact(w))

    def entropy_gradient(a: Any, b: Any, c: Any) -> Any:
        return MP.mpf(0.7) * c * (a - b) / max((1 - a) * a, constant) / 40

    small_p, small_t = p * 2.0**-90, t * 2.0**-90

    return [
        call("softplus.default", below, beta, want=lambda: [each(softplus, exact(below))]),
        call(
            "softplus_backward.default", g, x, beta, 40.0,
            want=lambda: [each(lambda a, b: a / (1 + MP.exp(-b * MP.mpf(beta))), e, f)],
        ),
        call("mish_backward.default", g, x, want=lambda: [e * each(mish_slope, f)]),
        call("glu_backward.default", g[:20], x, 0, want=lambda: [glu_gradient()]),
        call("binary_cross_entropy.default", p, t, w, 0, want=lambda: [entropy()]),
        call("binary_cross_entropy.default", p, t, w, 1, want=lambda: [np.array(entropy().sum() / 40)]),
        call("binary_cross_entropy.default", p, t, w, 2, want=lambda: [np.array(entropy().sum())]),
        call(
            "binary_cross_entropy.default", small_p, small_t, None, 2,
            want=lambda: [np.array(each(entropy_of, exact(small_p), exact(small_t), MP.mpf(1)).sum())],
        ),
        call(
            "binary_cross_entropy_backward.default", one, p, t, w, 1,
            want=lambda: [each(entropy_gradient, exact(p), exact(t), exact(w))],
        ),
    ]  # fmt: skip


def evaluated_norms(kind: str) -> list[Check]:
    """Batch norm's gradient in evaluation, with running means that are far from the data's."""
    x, g, w = make(kind, 8, 3, 5, seed=1), make(kind, 8, 3, 5), make("plain", 3, seed=2)
    mean, var = 50 * make("plain", 3, seed=4), make("plain", 3, seed=5).abs()

    def wanted() -> list[Exact]:
        def channel(values: Tensor) -> Exact:
            return exact(values).reshape(1, 3, 1)

        r = each(lambda v: 1 / MP.sqrt(v + MP.mpf(1e-5)), channel(var))
        centred = (exact(x) - channel(mean)) * r
        return [exact(g) * r * channel(w), (exact(g) * centred).sum(axis=(0, 2)), exact(g).sum(axis=(0, 2))]

    none = torch.zeros(0, dtype=torch.float64)
    return [
        call("native_batch_norm_backward.default", g, x, w, mean, var, none, none, False, 1e-5, [True] * 3, want=wanted)
    ]


def folds(kind: str) -> list[Check]:
    """Gradients of padding, folding and pooling whose windows overlap much."""
    line, image = make(kind, 1, 2, 9, seed=1), make(kind, 1, 2, 9, 10, seed=2)
    x1, x2 = torch.zeros(1, 2, 4).double(), torch.zeros(1, 2, 4, 4).double()

    def padded(name: str, x: Tensor, padding: list[int], g: Tensor) -> Callable[[], list[Exact]]:
        def wanted() -> list[Exact]:
            places = torch.arange(x.numel(), dtype=torch.float64).reshape(x.shape)
            spots = getattr(ATEN, name).default(places, padding).long().flatten().tolist()
            return [ex.accumulate(ex.zeros(x.numel()), spots, list(exact(g).ravel())).reshape(tuple(x.shape))]

        return wanted

    around = [3, 3, 2, 3]
    columns = make(kind, 1, 2 * 9, 25, seed=3)
    unfolded = make(kind, 2, 5, 4, seed=4)

    def folded(function: Callable[[Tensor], Tensor], shape: tuple[int, ...], g: Tensor) -> Callable[[], list[Exact]]:
        """The adjoint of a selection of elements."""

        def wanted() -> list[Exact]:
            places = torch.arange(math.prod(shape), dtype=torch.float64).reshape(shape)
            spots = function(places).long().flatten().tolist()
            return [ex.accumulate(ex.zeros(math.prod(shape)), spots, list(exact(g).ravel())).reshape(shape)]

        return wanted

    pooled = make(kind, 1, 2, 9, 9, seed=5)
    out, indices = ATEN.max_pool2d_with_indices(pooled, [3, 3], [2, 2], [0, 0], [2, 2])
    most, where = ATEN.adaptive_max_pool2d(pooled, [5, 5])
    g, h = make(kind, *out.shape, seed=6), make(kind, *most.shape, seed=7)

    def scattered(g: Tensor, indices: Tensor) -> list[Exact]:
        spots = [(0, c, *divmod(int(indices[0, c, i, j]), 9)) for c, i, j in np.ndindex(*g.shape[1:])]
        return [ex.accumulate(ex.zeros(1, 2, 9, 9), spots, list(exact(g).ravel()))]

    means = make(kind, 1, 2, 7, 7, seed=8)
    e = exact(means)

    def divided(divisor: float) -> list[Exact]:
        result = ex.zeros(1, 2, 5, 5)
        for c, i, j in np.ndindex(2, 5, 5):
            result[0, c, i, j] = e[0, c, i : i + 3, j : j + 3].sum() / divisor
        return [result]

    def spread(divisor: float) -> list[Exact]:
        result = ex.zeros(1, 2, 7, 7)
        for c, i, j in np.ndindex(2, 5, 5):
            window = result[0, c, i : i + 3, j : j + 3]
            window += exact(back)[0, c, i, j] / divisor
        return [result]

    back = make(kind, 1, 2, 5, 5, seed=9)
    window = [[3, 3], [1, 1], [0, 0], False, True]
    return [
        *(
            call(f"{name}1d_backward.default", line, x1, [3, 2], want=padded(f"{name}1d", x1, [3, 2], line))
            for name in ("reflection_pad", "replication_pad")
        ),
        *(
            call(f"{name}2d_backward.default", image, x2, around, want=padded(f"{name}2d", x2, around, image))
            for name in ("reflection_pad", "replication_pad")
        ),
        call(
            "col2im.default", columns, [7, 7], [3, 3], [1, 1], [0, 0], [1, 1],
            want=folded(lambda p: ATEN.im2col(p, [3, 3], [1, 1], [0, 0], [1, 1]), (1, 2, 7, 7), columns),
        ),
        call(
            "unfold_backward.default", unfolded, [2, 8], 1, 4, 1,
            want=folded(lambda p: p.unfold(1, 4, 1), (2, 8), unfolded),
        ),
        call(
            "max_pool2d_with_indices_backward.default", g, pooled, [3, 3], [2, 2], [0, 0], [2, 2], False, indices,
            want=lambda: scattered(g, indices),
        ),
        call("adaptive_max_pool2d_backward.default", h, pooled, where, want=lambda: scattered(h, where)),
        *(call("avg_pool2d.default", means, *window, d, want=lambda d=d: divided(d)) for d in (1, 2, 100)),
        *(call("avg_pool2d_backward.default", back, means, *window, d, want=lambda d=d: spread(d)) for d in (1, 100)),
    ]  # fmt: skip


FAMILIES = (
    products, convolutions, reductions, functions, slopes, few_terms, softmaxes, batch_norms, row_norms, losses,
    scatters, pools, more_reductions, more_functions, evaluated_norms, folds,
)  # fmt: skip
SAME_AS = {
    "adaptive_avg_pool1d": ("avg_pool1d",),
    "_adaptive_avg_pool2d": ("_adaptive_avg_pool3d",),
    "avg_pool2d": ("avg_pool3d",),
    "max_pool2d_with_indices_backward": ("max_pool3d_with_indices_backward",),
    "avg_pool2d_backward": ("avg_pool3d_backward",),
    "_adaptive_avg_pool2d_backward": ("_adaptive_avg_pool3d_backward",),
    "nll_loss_backward": ("nll_loss2d_backward",),
}
"""Kinds whose case stands for others of the same code in other dimensions."""


def described(value: Any) -> Any:
    if isinstance(value, Tensor):
        return TensorType("float32" if value.is_floating_point() else "int64", tuple(value.shape))
    return [described(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("taken", "given", "groups"), [(6, 2, 1), (2, 6, 1), (6, 4, 2), (4, 12, 4)])
def test_terms_of_convolutions_are_what_ones_add_up_to(transposed: bool, taken: int, given: int, groups: int) -> None:
    """With other channels in than out: each product of ones counts one, and the bias one more."""
    weight = torch.ones((taken, given // groups, 3, 3) if transposed else (given, taken // groups, 3, 3))
    x, bias = torch.ones(2, taken, 9, 9), torch.ones(given)
    args = [[1, 1], [0, 0], [1, 1], transposed, [0, 0], groups]
    y = ATEN.convolution.default(x, weight, bias, *args)
    forward = "aten.convolution.default", [x, weight, bias, *args]
    backward = "aten.convolution_backward.default", [torch.ones_like(y), x, weight, [given], *args, [True] * 3]
    for name, values in (forward, backward):
        operation = operation_of((name, values, {}))
        outputs = listed(native(operation, list(values), {}))
        types = {key: described(value) for key, value in operation.named(values, {}).items()}
        bounds = bounds_of(Use(classify(name), types, len(outputs)))
        for output, bound in zip(outputs, bounds, strict=True):
            assert bound is not None
            assert bound.terms >= float(output.max())
        if name == forward[0]:
            assert bounds[0] == Bound(int(y.max()))


def worst_share(check: Check) -> float:
    """The largest error of an operator, native and perturbed, as a share of its bound."""
    name, args, kwargs, want = check
    operation = operation_of((name, args, kwargs))
    named = operation.named(args, kwargs)
    outputs = listed(native(operation, list(args), dict(kwargs)))
    computed = [outputs] + [listed(perturb(p)(operation, list(args), dict(kwargs))) for p in PERTURBATIONS]
    # An operator that may also be exact is looked at in its rounded form.
    entry = classify(name, alpha=0.3)
    scales = scale_rule(entry)(named, outputs)
    types = {key: described(value) for key, value in named.items()}
    bounds = bounds_of(Use(entry, types, len(outputs)))
    worst = 0.0
    for position, wanted in enumerate(want()):
        if wanted is None:
            continue
        bound = bounds[position]
        assert bound is not None, (name, position)
        unit = MP.mpf(bound.terms) * MP.mpf(2) ** -53
        allowed = bound.factor * unit / (1 - unit) * MP.mpf(float(scales[position]))
        error = largest_error([results[position] for results in computed], wanted)
        if error:
            worst = max(worst, float(error / allowed))
    return worst


def largest_error(results: Sequence[Tensor], wanted: Exact) -> Any:
    """The largest error of any machine; where one has what the first has, its error is the first's."""
    first, largest = None, MP.mpf(0)
    wanted = np.broadcast_to(np.asarray(wanted, object), results[0].shape)
    for result in results:
        values = result.detach().numpy()
        fresh = np.full(values.shape, True) if first is None else np.asarray(values != first)
        first = values if first is None else first
        errors = each(lambda a, b: abs(a - b), exact(result[torch.from_numpy(fresh)]), wanted[fresh])
        largest = max(largest, *errors.ravel(), MP.mpf(0))
    return largest


def cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every operator that has a form of our own be computed in it, in blocks that these small tensors fill."""
    monkeypatch.setattr(sums, "LONGEST", 0)
    monkeypatch.setattr(sums, "SHORT", 4)
    monkeypatch.setattr(sums, "PART", 8)


@lru_cache(maxsize=1)
def checks_of(family: Callable[[str], list[Check]], kind: str) -> list[Check]:
    """The calls of a family, each with what it should come to; both forms are held against the same."""
    return [(name, args, kwargs, cache(want)) for name, args, kwargs, want in family(kind)]


@pytest.mark.parametrize("form", ["usual", "blocks"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
def test_the_error_stays_within_the_bound(
    family: Callable[[str], list[Check]], kind: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if form == "blocks":
        cut_short(monkeypatch)
    for check in checks_of(family, kind):
        assert worst_share(check) <= 1.0, check[0]


def test_every_kind_with_a_bound_has_a_case() -> None:
    covered = {check[0].split(".")[1] for family in FAMILIES for check in family("plain")}
    covered |= {other for kind in covered for other in SAME_AS.get(kind, ())}
    assert covered == {name.split(".")[1] for name in allowed_names() if classify(name, alpha=0.3).bound is not None}


def test_control_a_scale_that_forgets_cancelled_terms_breaks_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    x = make("cancelling", 60)
    check = call("sum.default", x, want=lambda: [np.array(exact(x).sum(), object)])
    assert worst_share(check) <= 1.0
    monkeypatch.setattr(f"{__name__}.scale_rule", lambda entry: SCALES["output"])
    assert worst_share(check) > 1.0


AWKWARD: dict[str, Callable[[Tensor], Tensor]] = {
    "wholly below -3": lambda x: -3.0 - x.abs(),
    "wholly below -20": lambda x: -20.0 - x.abs(),
    "next to -3": lambda x: -3.0 + x.abs() * 2.0**-20,
    "tiny": lambda x: x * 2.0**-60,
    "tiny and negative": lambda x: -x.abs() * 2.0**-60,
    "next to a half": lambda x: 0.5 + x * 2.0**-40,
    "next to one": lambda x: 1.0 + x * 2.0**-40,
    "next to pi": lambda x: math.pi + x * 2.0**-40,
    "large": lambda x: 15.0 + x.abs(),
}
"""Ranges in which a function's results are far smaller than what it is put together from."""


def inside(name: str, x: Tensor) -> Tensor:
    """The arguments for which a function is defined; none where it is not."""
    lowest, highest = -math.inf, math.inf
    if name in ("asin", "acos", "atanh", "logit"):
        lowest, highest = (0.0 if name == "logit" else -1.0), 1.0
    elif name in ("log", "log2", "log10", "sqrt", "rsqrt"):
        lowest = 0.0
    elif name == "log1p":
        lowest = -1.0
    elif name == "acosh":
        lowest = 1.0
    kept = x[(x > lowest) & (x < highest)]
    return kept[kept != 0] if name in ("reciprocal", "rsqrt") else kept


@pytest.mark.parametrize("where", AWKWARD)
@pytest.mark.parametrize("name", UNARY)
def test_a_function_keeps_its_bound_where_all_its_results_are_small(name: str, where: str) -> None:
    """The largest result is the scale of most functions: their error must be relative to it wherever they are used."""
    x = inside(name, AWKWARD[where](make("plain", 40, seed=len(name))))
    if not len(x):
        pytest.skip("not defined there")
    assert worst_share(call(f"{name}.default", x, want=lambda: [each(UNARY[name][0], exact(x))])) <= 1.0


@pytest.mark.parametrize("where", ["wholly below -3", "wholly below -20", "large", "tiny"])
@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_both_forms_of_gelu_keep_their_bound_where_all_arguments_are_negative(where: str, approximate: str) -> None:
    x = AWKWARD[where](make("plain", 40))
    function = _gelu_tanh if approximate == "tanh" else UNARY["gelu"][0]
    check = call("gelu.default", x, approximate=approximate, want=lambda: [each(function, exact(x))])
    assert worst_share(check) <= 1.0


@pytest.mark.parametrize(("name", "where"), [("gelu", "wholly below -3"), ("logit", "next to a half")])
@pytest.mark.parametrize("proven", [False, True])
def test_gelu_and_logit_stay_within_the_margin_of_every_mode(name: str, where: str, proven: bool) -> None:
    """Their error is absolute: measured by the largest result it was 5 to a million margins."""
    x = AWKWARD[where](make("plain", 400))
    kind = TensorType("float32", (400,))
    node = Node(f"aten.{name}.default", (Value(0),), (), (kind,), 1, "", "forward")
    (margin,) = site_margins(Program((Input("x", "state", kind),), (node,), {}, Value(1)), Precision(proven=proven))
    (output,) = listed(native(make_operation(node), [x], {}))
    error = max(each(lambda a, b: abs(a - b), exact(output), each(UNARY[name][0], exact(x))))
    arguments = {"self": x}
    for rule, holds in ((scale_rule(node.entry), True), (SCALES["output"], False)):
        (size,) = rule(arguments, [output])
        tau = 2.0 ** (math.frexp(float(size))[1] - 1 - margin.bits)
        assert (error <= 0.375 * tau) is holds, "the control is the rule that was"


def test_control_the_usual_scale_of_gelu_breaks_it_where_all_arguments_are_negative(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = -6.0 - make("plain", 40).abs()
    check = call("gelu.default", x, want=lambda: [each(UNARY["gelu"][0], exact(x))])
    assert worst_share(check) <= 1.0
    monkeypatch.setattr(f"{__name__}.scale_rule", lambda entry: SCALES["output"])
    assert worst_share(check) > 1.0


# From a bound to a margin.


@pytest.mark.parametrize("bound", [Bound(1), Bound(1000), Bound(65536, 5.0), Bound(3, 0.5)])
def test_the_margin_leaves_room_for_two_machines_and_for_omissions(bound: Bound) -> None:
    margin = math.floor(margin_bits(bound, "float64"))
    unit = bound.terms * 2.0**-53
    difference = 2 * bound.factor * unit / (1 - unit) * 2  # two machines; S is below 2^(E + 1)
    assert 0.75 * 2.0**-margin >= difference
    assert 0.75 * 2.0 ** -(margin + 2) < difference


def test_bounds_beyond_the_dtype_have_no_margin() -> None:
    assert margin_bits(Bound(2**53), "float64") == -math.inf
    assert margin_bits(Bound(1000), "float32") < PROFILES["float32-bfloat16"].margin_range[0]


def test_the_error_bound_is_the_right_hand_side_with_the_largest_scale() -> None:
    assert error_bound(Bound(1), 3, "float64") == pytest.approx(2.0**-49, rel=2.0**-7)
    assert error_bound(Bound(100, 3.0), 0, "float32") == pytest.approx(600 * 2.0**-24, rel=2.0**-7)
    assert error_bound(Bound(2**53), 0, "float64") == math.inf
    for bound in (Bound(7), Bound(5000, 4.0)):
        # Two machines, and the room that omissions take: what the margin is made of.
        margin = margin_bits(bound, "float64")
        assert 2.0 ** (5 - margin) == pytest.approx(4 / 3 * 2 * error_bound(bound, 5, "float64"))


@pytest.mark.parametrize("make_order", [digits_order, gpt2_order])
def test_a_margin_is_the_smaller_of_the_profiles_and_the_proven(make_order: Callable[..., Any]) -> None:
    program = make_order().program
    for profile in ("float64-24", "float64-18"):
        precision = PROFILES[profile]
        assert precision.proven
        margins = site_margins(program, precision)
        least, _ = precision.margin_range
        assert len(margins) == len(program.sites)
        assert all(margin.proven and least <= margin.bits <= precision.margin_bits for margin in margins)
        assert len({margin.bits for margin in margins}) > 3
        assert kinds_without_bound(program, precision) == ()
    calibrated = replace(Precision(), proven=False)
    assert set(site_margins(program, calibrated)) == {Margin(44)}
    assert set(kinds_without_bound(program, calibrated)) == {site.kind for site in program.sites}


def test_a_site_without_a_bound_keeps_the_calibrated_margin(monkeypatch: pytest.MonkeyPatch) -> None:
    program = digits_order().program
    monkeypatch.setattr(guaranteed, "_known", {})
    monkeypatch.setattr(guaranteed, "bounds_of", lambda use: [None] if use.kind == "convolution" else bounds_of(use))
    margins = site_margins(program, Precision())
    for site, margin in zip(program.sites, margins, strict=True):
        assert margin.proven is (site.kind != "convolution")
        assert margin.bits == 44 or margin.proven
    assert kinds_without_bound(program, Precision()) == ("convolution",)


def test_a_bound_that_does_not_fit_the_grid_is_none() -> None:
    """float32 has 24 bits: most sums have too many terms for a proven margin there."""
    precision = replace(PROFILES["float32-bfloat16"], proven=True)
    program = digits_order(precision=precision).program
    margins = site_margins(program, precision)
    assert {margin.bits for margin in margins if not margin.proven} == {16}
    assert any(margin.proven for margin in margins)
    assert "convolution_backward" in kinds_without_bound(program, precision)


# Orders.


@pytest.mark.sampled
@pytest.mark.parametrize("profile", ["float64-24", "float64-18"])
@pytest.mark.parametrize("make_order", [digits_order, gpt2_order])
def test_replay_is_bit_exact_on_other_hardware(
    make_order: Callable[..., Any], profile: str, tmp_path: Any, trainer_key: Any
) -> None:
    draft = make_order(precision=PROFILES[profile], steps=3, checkpoint_every=3)
    job = record_job(tmp_path, draft, trainer_key)
    for perturbation in PERTURBATIONS:
        report = audited(job.run, job.order, perturbation=perturbation).report
        assert report.outcome is Outcome.VERIFIED, report.reason
        assert (report.contradictions, report.omissions) == (0, 0)


def test_an_order_says_where_its_margins_come_from() -> None:
    for proven in (False, True):
        manifest = digits_order(precision=Precision(proven=proven)).manifest
        assert f'"proven":{str(proven).lower()}'.encode() in manifest.to_bytes()
        assert OrderManifest.from_bytes(manifest.to_bytes()) == manifest
    with pytest.raises(BundleError, match="none may be set"):
        Precision(margins=(("mm", 40),))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--precision", "float64-20"], Precision(significand_bits=20)),
        (["--margins", "calibrated"], Precision(proven=False)),
        (["--precision", "float32-bfloat16"], PROFILES["float32-bfloat16"]),
        (
            ["--precision", "float32-bfloat16", "--margins", "proven"],
            replace(PROFILES["float32-bfloat16"], proven=True),
        ),
    ],
)
def test_the_command_line_writes_orders_with_proven_margins_by_default(
    options: list[str], expected: Precision, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    job = tmp_path / "job.cfoil"
    order = ["order", "digits-cnn", "--steps", "1", "--width", "2", "--checkpoint-every", "1", "--out", str(job)]
    assert main([*order, *options]) == 0
    with BundleReader.open(job) as reader:
        assert reader.manifest.precision == expected
    capsys.readouterr()
    assert main(["inspect", str(job)]) == 0
    assert expected.describe() in " ".join(capsys.readouterr().out.split())

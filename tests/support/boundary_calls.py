"""Calls of every rounded operator with awkward numbers: signed zeros, tiny and huge ones, branch points, midpoints.

A mood says what numbers a call is filled with. Everything is drawn from generators that are keyed by the operator's
name, the mood and the number of the argument, so that every run sees the same.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from support.operator_calls import ATEN, Call, listed

_TINIEST = 2.0**-149
"""The smallest number of a grid: float32's subnormal spacing."""
_BRANCHES = (
    0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 6.0, 0.1, 0.4, 0.7, 1e-3, 1e-12, float(np.float32(1e-12)), 0.25, 0.125, 1 / 3, 0.9,
    math.pi, math.pi / 2, math.e, math.log(2), 10.0, 20.0, 30.0, 37.0, 88.0, 100.0, 103.0, 2.0**24 + 1, 2.0**53,
)  # fmt: skip
"""Where a function of the allow-list changes its formula, or a library may: thresholds, ends of clamps."""
MOODS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {}


def _mood(function: Callable[[np.random.Generator, int], np.ndarray]) -> Callable[..., np.ndarray]:
    MOODS[function.__name__] = function
    return function


@_mood
def boundary(rng: np.random.Generator, count: int) -> np.ndarray:
    """Branch points, their neighbours, and the ends of the range."""
    points = np.array(_BRANCHES)
    ends = np.array([_TINIEST, 2.0**-140, 2.0**-126, 1e-30, 2.0**-53, 2.0**-24, 1e18, 2.0**127])
    pool = np.concatenate([points, np.nextafter(points, np.inf), np.nextafter(points, -np.inf), ends])
    pool = np.concatenate([pool, -pool])
    return rng.permutation(np.resize(rng.permutation(pool), count))


@_mood
def tiny(rng: np.random.Generator, count: int) -> np.ndarray:
    """Subnormal float32 numbers and a little more, both zeros among them."""
    values = np.rint(rng.standard_normal(count) * 2.0 ** rng.integers(0, 24, count)) * _TINIEST
    return np.where(rng.random(count) < 0.1, -0.0, values)


@_mood
def huge(rng: np.random.Generator, count: int) -> np.ndarray:
    """Numbers up to the end of float32's range."""
    return rng.choice([-1.0, 1.0], count) * 2.0 ** rng.uniform(30, 100, count)


@_mood
def negative(rng: np.random.Generator, count: int) -> np.ndarray:
    """A tensor wholly below -3."""
    return -3.0 - rng.exponential(8.0, count)


@_mood
def positive(rng: np.random.Generator, count: int) -> np.ndarray:
    """A tensor wholly above 3."""
    return 3.0 + rng.exponential(8.0, count)


@_mood
def near_one(rng: np.random.Generator, count: int) -> np.ndarray:
    """A few ulp from 1, or from -1."""
    return rng.choice([1.0, 1.0, 1.0, -1.0], count) * (1.0 + rng.integers(-4, 5, count) * 2.0**-53)


@_mood
def midpoints(rng: np.random.Generator, count: int) -> np.ndarray:
    """Exact midpoints between numbers of 24 bits, and numbers of 24 bits."""
    return np.rint(rng.standard_normal(count) * 2.0**24) * 2.0 ** rng.integers(-27, -20, count)


@_mood
def equal(rng: np.random.Generator, count: int) -> np.ndarray:
    """Few values, many times."""
    return rng.choice([0.0, -0.0, 1.0, -1.0, 0.1, 3.0], count)


@_mood
def wide(rng: np.random.Generator, count: int) -> np.ndarray:
    """Ordinary numbers of very different sizes."""
    return rng.standard_normal(count) * 2.0 ** rng.integers(-30, 6, count)


class Source:
    """Draws the tensors of one call."""

    def __init__(self, name: str, mood: str) -> None:
        self.mood = mood
        self._key = [*name.encode(), *mood.encode()]
        self._number = itertools.count()

    def rng(self) -> np.random.Generator:
        return np.random.default_rng([next(self._number), *self._key])

    def x(self, *shape: int) -> Tensor:
        """Numbers of the mood."""
        values = MOODS[self.mood](self.rng(), math.prod(shape)).reshape(shape)
        return torch.from_numpy(np.ascontiguousarray(values))

    def unit(self, *shape: int, high: float = 0.5) -> Tensor:
        """Numbers from 0 to 1, both included: what a sigmoid gives; near 1 instead of near 0 with a chance ``high``."""
        rng, count = self.rng(), math.prod(shape)
        small = np.minimum(np.abs(MOODS[self.mood](rng, count)), 1.0)
        return torch.from_numpy(np.where(rng.random(count) < high, 1.0 - small, small).reshape(shape))

    def units(self, *shape: int) -> Iterator[Tensor]:
        """The same: a mixture, and tensors that are saturated as a whole."""
        for high in (0.5, 0.0, 1.0):
            yield self.unit(*shape, high=high)

    def plain(self, *shape: int) -> Tensor:
        """Ordinary numbers."""
        return torch.from_numpy(self.rng().standard_normal(shape))

    def modest(self, *shape: int) -> Tensor:
        """Numbers of the mood where no power of them leaves the range; else ordinary ones."""
        return self.plain(*shape) if self.mood == "huge" else self.x(*shape).clamp(-1e9, 1e9)

    def rows(self, *shape: int, limit: int) -> Tensor:
        """Indices below a limit."""
        return torch.from_numpy(self.rng().integers(0, limit, shape))


Maker = Callable[[Source], Iterator[tuple[list[Any], dict[str, Any]]]]
_MAKERS: dict[str, Maker] = {}
N = 40


def _calls(*names: str) -> Callable[[Maker], Maker]:
    def register(maker: Maker) -> Maker:
        for name in names:
            _MAKERS[f"aten.{name}"] = maker
        return maker

    return register


def _rows(names: str, make: Callable[[Source], list[list[Any]]]) -> None:
    """Register calls by their arguments; those by name are a dictionary behind the others."""

    def maker(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
        for row in make(source):
            yield (row[:-1], row[-1]) if isinstance(row[-1], dict) else (row, {})

    _calls(*names.split())(maker)


def fuzzed_names() -> frozenset[str]:
    """The operators that have boundary calls."""
    return frozenset(_MAKERS)


def boundary_calls(name: str) -> Iterator[tuple[str, Call]]:
    """Yield (mood, call) of an operator, in all its modes; every floating result is finite."""
    for mood in MOODS:
        for args, kwargs in _MAKERS[name](Source(name, mood)):
            call = _finite(name, args, kwargs)
            if call is not None:
                yield mood, call


def _finite(name: str, args: list[Any], kwargs: dict[str, Any]) -> Call | None:
    """The call, without the elements that lead to a result that is not finite, where the operator is elementwise."""
    _, packet, overload = name.split(".")
    function = getattr(getattr(ATEN, packet), overload)
    outputs = [o for o in listed(function(*args, **kwargs)) if isinstance(o, Tensor) and o.is_floating_point()]
    good = [torch.isfinite(o) for o in outputs]
    if all(bool(g.all()) for g in good):
        return name, args, kwargs
    kept = torch.stack(good).all(0) if all(g.shape == (N,) for g in good) else torch.zeros(1, dtype=torch.bool)
    if not bool(kept.any()):
        return None
    chosen = [a[kept] if isinstance(a, Tensor) and a.shape == (N,) else a for a in args]
    return name, chosen, kwargs


_UNARY = """
    exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc sigmoid
    rsqrt sqrt reciprocal silu mish selu
"""


@_calls(*(f"{name}.default" for name in _UNARY.split()))
def _unary(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    yield [source.x(N)], {}
    yield [source.unit(N)], {}
    if source.mood != "tiny":
        yield [source.x(N).abs() * 1.01], {}


_rows("gelu.default", lambda s: [[s.modest(N), {"approximate": form}] for form in ("none", "tanh")])
_rows(
    "gelu_backward.default",
    lambda s: [
        row
        for form in ("none", "tanh")
        for row in ([s.plain(N), s.modest(N), {"approximate": form}], [s.x(N), s.plain(N) * 3, {"approximate": form}])
    ],
)
_rows("silu_backward.default mish_backward.default", lambda s: [[s.plain(N), s.x(N)], [s.x(N), s.plain(N) * 3]])
_rows(
    "tanh_backward.default sigmoid_backward.default",
    lambda s: [row for y in s.units(N) for row in ([s.plain(N), y], [s.x(N), y])],
)
_rows("elu.default", lambda s: [[s.x(N), *settings] for settings in ((), (0.7, 1.3, 0.9), (2.0,))])
_rows("celu.default", lambda s: [[s.x(N), *settings] for settings in ((), (0.7,), (3.0,))])


@_calls("elu_backward.default")
def _elu_backward(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for alpha, scale, size in ((1.0, 1.0, 1.0), (0.7, 1.3, 0.9)):
        x = source.x(N)
        yield [source.plain(N), alpha, scale, size, False, x], {}
        yield [source.plain(N), alpha, scale, size, True, ATEN.elu.default(x, alpha, scale, size)], {}


_LINEAR = ((0.7, 20), (0.1, 10), (1 / 3, 20), (1.7, 3), (1, 20))
"""Betas and thresholds of softplus; some products with beta round to the other side of the threshold."""


def _around(value: float) -> Tensor:
    return torch.from_numpy(value + np.arange(N) * np.spacing(value) - N // 2 * np.spacing(value))


_rows(
    "softplus.default",
    lambda s: [
        *([s.x(N), *settings] for settings in ((), (0.7, 10), (1, 3.0), (1 / 3, 10))),
        *([_around(threshold / beta), beta, threshold] for beta, threshold in _LINEAR),
    ],
)
_rows(
    "softplus_backward.default",
    lambda s: [
        *([s.plain(N), s.x(N), *settings] for settings in ((1, 20), (0.7, 10), (1, 3.0), (1 / 3, 10))),
        *([s.plain(N), _around(threshold / beta), beta, threshold] for beta, threshold in _LINEAR),
    ],
)


@_calls("logit.default")
def _logit(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for eps in (None, 0.1, 0.3, 1e-6, 0.5):
        for x in source.units(N):
            yield [x, eps], {}
        if eps is not None:
            yield [torch.cat([source.x(N - 4), torch.tensor([eps, 1 - eps, 0.0, 1.0]).double()]), eps], {}


@_calls("logit_backward.default")
def _logit_backward(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for eps in (None, 0.1, 0.3, 1e-6, 0.5):
        for x in source.units(N):
            yield [source.plain(N), x, eps], {}
        if eps is not None:
            ends = [eps, 1 - eps, math.nextafter(1 - eps, 2), math.nextafter(eps, 0)]
            yield [source.plain(N), torch.cat([source.unit(N - 4), torch.tensor(ends).double()]), eps], {}


_rows("glu.default", lambda s: [[s.modest(4, 20), 1], [torch.cat([s.plain(10, 4), s.x(10, 4)]), 0]])
_rows("glu_backward.default", lambda s: [[s.plain(4, 10), s.modest(4, 20), 1], [s.x(10, 4), s.plain(20, 4), -2]])
_rows("_prelu_kernel.default", lambda s: [[s.x(4, 10), s.plain(1, 10)]])
_rows("_prelu_kernel_backward.default", lambda s: [[s.plain(4, 10), s.x(4, 10), s.plain(1, 10).expand(4, 10)]])
_rows("add.Tensor sub.Tensor rsub.Tensor", lambda s: [[s.x(N), s.x(N), {"alpha": alpha}] for alpha in (0.3, -2.0, 3)])
_rows(
    "add.Scalar sub.Scalar rsub.Scalar", lambda s: [[s.x(N), other, alpha] for other, alpha in ((0.7, 0.3), (-1e-3, 3))]
)
_rows("addcmul.default", lambda s: [[s.x(N), s.modest(N), s.modest(N), {"value": value}] for value in (1, 0.7)])
_rows(
    "addcdiv.default",
    lambda s: [
        row
        for value in (1, -0.7)
        for row in (
            [s.modest(N), s.modest(N), s.plain(N), {"value": value}],
            [s.plain(N), s.plain(N), s.modest(N), {"value": value}],
        )
    ],
)
_rows("lerp.Tensor", lambda s: [[s.modest(N), s.modest(N), s.unit(N)]])
_rows("lerp.Scalar", lambda s: [[s.x(N), s.x(N), weight] for weight in (0.3, 0.5, 0.999, 1.7)])
_rows(
    "pow.Tensor_Scalar",
    lambda s: [
        [s.x(N) if abs(exponent) <= 1 else s.modest(N), exponent]
        for exponent in (2, 3, 0.5, -0.5, -1, -2, 2.5, 0, 1, -3)
    ],
)
_rows(
    "pow.Tensor_Tensor",
    lambda s: [
        [s.unit(N), s.plain(N)],
        [s.modest(N).clamp(-1e4, 1e4), torch.from_numpy(s.rng().integers(-3, 4, N)).double()],
        [s.plain(N).abs(), s.x(N)],
    ],
)
_rows("pow.Scalar", lambda s: [[base, s.x(N)] for base in (2.5, 0.3, 2, 1)])


@_calls("atan2.default", "xlogy.Tensor", "logaddexp.default", "div.Tensor")
def _pair(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    yield [source.x(N), source.x(N)], {}
    yield [source.x(N), source.unit(N)], {}
    yield [source.plain(N), source.x(N)], {}
    zeros = torch.tensor([0.0, -0.0]).double().repeat(N // 2)
    yield [zeros, torch.where(source.plain(N) > 0, source.plain(N), zeros)], {}


_rows("div.Scalar", lambda s: [[s.x(N), other] for other in (3.0, -0.1, 49)])


# Reductions.

_rows("sum.default mean.default sum.dim_IntList mean.dim", lambda s: [[s.x(5, 7)]])
_rows(
    "sum.dim_IntList mean.dim",
    lambda s: [
        *([s.x(5, 3, 4), dims, keep] for dims, keep in (([0], False), ([1, -1], True), (None, False), ([], False))),
        [s.x(), [0]],
    ],
)
_rows("cumsum.default", lambda s: [[s.x(5, 7), 1], [s.x(5, 7), -2]])
_rows("prod.default", lambda s: [[s.modest(6).clamp(-1e3, 1e3)], [s.unit(3, 2)]])
_rows("prod.dim_int", lambda s: [[s.modest(6, 5).clamp(-1e3, 1e3), 1, False], [s.unit(6, 5), 0, True]])
_rows(
    "var.correction std.correction var_mean.correction",
    lambda s: [
        [s.modest(5, 7), [1], {"correction": 1}],
        [s.modest(5, 7)],
        [s.modest(5, 7), [0, -1], {"correction": 0, "keepdim": True}],
        [s.modest(3, 4, 2), [0, 2], {"correction": 0.5}],
    ],
)


@_calls("linalg_vector_norm.default")
def _vector_norm(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for order in (2, 1, 0, 3, 0.5, math.inf, -math.inf):
        x = source.x(5, 7) if order in (0, 1, math.inf, -math.inf) else source.modest(5, 7)
        yield [x, order], {}
        yield [x, order, [0], True], {}


_rows("norm.ScalarOpt_dim", lambda s: [[s.modest(5, 7), order, [1]] for order in (2, 1, None)])
_rows("norm.Scalar", lambda s: [[s.modest(5, 7), order] for order in (2, 1, 3)])
_rows("logsumexp.default", lambda s: [[s.x(5, 7), [1]], [s.x(5, 7), [0, 1], True]])


@_calls("_softmax.default", "_log_softmax.default")
def _softmax(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    yield [source.x(5, 7), 1, False], {}
    yield [source.x(5, 7), -2, False], {}
    yield [source.x(5, 7).masked_fill(source.plain(5, 7) > 1.0, -math.inf), 1, False], {}


_rows("_safe_softmax.default", lambda s: [[s.x(5, 7), 1], [s.x(5, 7).masked_fill(s.plain(5, 1) > 0.3, -math.inf), -1]])
_rows(
    "_softmax_backward_data.default",
    lambda s: [
        [s.x(5, 7), torch.softmax(s.plain(5, 7) * 9, 1), 1, torch.float64],
        [s.plain(5, 7), torch.softmax(s.x(5, 7), 0), 0, torch.float64],
    ],
)
_rows(
    "_log_softmax_backward_data.default",
    lambda s: [
        [s.x(5, 7), torch.log_softmax(s.plain(5, 7) * 9, 1), 1, torch.float64],
        [s.plain(5, 7), torch.log_softmax(s.x(5, 7), 0), 0, torch.float64],
    ],
)


# Products.

_rows(
    "mm.default",
    lambda s: [[s.modest(4, 9), s.modest(9, 3)], [s.x(4, 9), s.plain(9, 3)], [s.plain(4, 0), s.plain(0, 3)]],
)
_rows(
    "addmm.default",
    lambda s: [
        [s.modest(3), s.modest(4, 9), s.modest(9, 3), {"beta": beta, "alpha": alpha}]
        for beta, alpha in ((1, 1), (0.5, -2), (0, 0.1))
    ],
)
_rows("mv.default", lambda s: [[s.modest(4, 9), s.modest(9)]])
_rows(
    "addmv.default",
    lambda s: [
        [s.modest(4), s.modest(4, 9), s.modest(9), {"beta": beta, "alpha": alpha}]
        for beta, alpha in ((1, 1), (0.5, -2))
    ],
)
_rows("dot.default", lambda s: [[s.modest(9), s.modest(9)]])
_rows("bmm.default", lambda s: [[s.modest(2, 4, 9), s.modest(2, 9, 3)]])


@_calls("baddbmm.default")
def _baddbmm(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for beta, alpha in ((1, 1), (3, 0.1)):
        factors = [source.modest(2, 4, 9), source.modest(2, 9, 3)]
        yield [source.modest(2, 4, 3), *factors], {"beta": beta, "alpha": alpha}


def _convolutions(source: Source) -> Iterator[tuple[list[Any], list[Any]]]:
    for rank, transposed, groups, stride, padding, dilation in (
        (2, False, 1, 1, 1, 1), (2, False, 2, 2, 1, 1), (1, False, 1, 1, 0, 2), (2, True, 2, 2, 1, 1),
        (1, True, 1, 2, 1, 1), (2, False, 1, 2, 0, 1), (3, False, 1, 1, 1, 1),
    ):  # fmt: skip
        length = 3 if rank == 3 else 5
        kernel = 1 if stride == 2 and padding == 0 else 2 if rank == 3 else 3
        output_padding = [1 if transposed and rank == 1 else 0] * rank
        settings = [[stride] * rank, [padding] * rank, [dilation] * rank, transposed, output_padding, groups]
        yield [source.modest(2, 4, *[length] * rank), source.modest(4, 4 // groups, *[kernel] * rank)], settings


_rows(
    "convolution.default",
    lambda s: [
        [*factors, None if index == 0 else s.modest(4), *settings]
        for index, (factors, settings) in enumerate(_convolutions(s))
    ],
)


@_calls("convolution_backward.default")
def _convolution_backward(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for index, ((x, weight), settings) in enumerate(_convolutions(source)):
        g = source.modest(*ATEN.convolution.default(x, weight, None, *settings).shape)
        mask = [True, index != 1, index != 2]
        yield [g, x, weight, [4], *settings, mask], {}


# Normalisations.


def _statistics(x: Tensor, axes: list[int]) -> tuple[Tensor, Tensor]:
    mean = x.mean(axes)
    return mean.float().double(), torch.rsqrt(x.var(axes, correction=0) + 1e-5).float().double()


@_calls("_native_batch_norm_legit_functional.default")
def _batch_norm(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    old = [source.plain(3), source.plain(3).abs()]
    yield [source.modest(4, 3, 5), source.plain(3), source.plain(3), *old, True, 0.1, 1e-5], {}
    yield [source.modest(4, 3), None, None, *old, True, 0.3, 1e-5], {}


_rows("_native_batch_norm_legit.no_stats", lambda s: [[s.modest(4, 3, 5), s.plain(3), s.plain(3), True, 0.1, 1e-5]])


@_calls("_native_batch_norm_legit_no_training.default")
def _batch_norm_evaluated(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    statistics = [source.plain(3), source.plain(3).abs()]
    yield [source.x(4, 3, 5), source.plain(3), source.plain(3), *statistics, 0.1, 1e-5], {}
    yield [source.plain(4, 3, 5), None, None, *statistics, 0.1, 1e-5], {}


@_calls("native_batch_norm_backward.default")
def _batch_norm_backward(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    x = source.modest(4, 3, 5)
    running, saved = [source.plain(3), source.plain(3).abs()], _statistics(x, [0, 2])
    for weight, train, g in ((source.plain(3), True, source.plain(4, 3, 5)), (None, False, source.x(4, 3, 5))):
        yield [g, x, weight, *running, *saved, train, 1e-5, [True, True, True]], {}
    x = source.plain(4, 3, 5)
    saved = _statistics(x, [0, 2])
    yield [source.modest(4, 3, 5), x, None, *running, *saved, True, 1e-5, [True] * 3], {}


_rows(
    "native_layer_norm.default",
    lambda s: [[s.modest(4, 9), [9], s.plain(9), s.plain(9), 1e-5], [s.modest(4, 3, 5), [3, 5], None, None, 1e-5]],
)


@_calls("native_layer_norm_backward.default")
def _layer_norm_backward(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for weighted in (True, False):
        x = source.modest(4, 9)
        mean, rstd = (part[:, None] for part in _statistics(x, [1]))
        factors = [source.plain(9), source.plain(9)] if weighted else [None, None]
        mask = [True, weighted, weighted]
        yield [source.plain(4, 9), x, [9], mean, rstd, *factors, mask], {}


_rows(
    "native_group_norm.default",
    lambda s: [
        [s.modest(2, 6, 5), s.plain(6), s.plain(6), 2, 6, 5, 3, 1e-5],
        [s.modest(2, 6, 5), None, None, 2, 6, 5, 1, 1e-5],
    ],
)


@_calls("native_group_norm_backward.default")
def _group_norm_backward(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for weight, mask in ((source.plain(6), [True] * 3), (None, [True, False, False])):
        x = source.modest(2, 6, 5)
        mean, rstd = _statistics(x.reshape(2, 3, 10), [2])
        yield [source.plain(2, 6, 5), x, mean, rstd, weight, 2, 6, 5, 3, mask], {}


# Losses.


def _targets(source: Source, x: Tensor) -> Tensor:
    """Targets, some equal to the input, some exactly at a threshold from it."""
    near = torch.stack([x, x + 0.4, x - 1.0, source.plain(*x.shape)])
    return near.gather(0, source.rows(1, *x.shape, limit=4))[0]


@_calls("mse_loss.default")
def _mse(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for reduction in (0, 1, 2):
        x = source.modest(5, 7)
        yield [x, _targets(source, x), reduction], {}


@_calls("smooth_l1_loss.default")
def _smooth_l1(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for reduction, beta in itertools.product((0, 1, 2), (1.0, 0.4, 0.0)):
        x = source.modest(5, 7)
        yield [x, _targets(source, x), reduction, beta], {}


@_calls("huber_loss.default")
def _huber(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for reduction, delta in itertools.product((0, 1, 2), (1.0, 0.4)):
        x = source.modest(5, 7)
        yield [x, _targets(source, x), reduction, delta], {}


def _gradients(source: Source, reduction: int) -> Tensor:
    return source.x(5, 7) if reduction == 0 else source.x()


@_calls("mse_loss_backward.default")
def _mse_backward(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for reduction in (0, 1, 2):
        x = source.modest(5, 7)
        yield [_gradients(source, reduction), x, _targets(source, x), reduction], {}


@_calls("smooth_l1_loss_backward.default")
def _smooth_l1_backward(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for reduction, beta in itertools.product((0, 1, 2), (1.0, 0.4, 0.0)):
        x = source.modest(5, 7)
        yield [_gradients(source, reduction), x, _targets(source, x), reduction, beta], {}


@_calls("huber_loss_backward.default")
def _huber_backward(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for reduction, delta in itertools.product((0, 1, 2), (1.0, 0.4)):
        x = source.modest(5, 7)
        yield [_gradients(source, reduction), x, _targets(source, x), reduction, delta], {}


@_calls("binary_cross_entropy.default")
def _bce(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for reduction, weighted, x in itertools.product((0, 1, 2), (True, False), source.units(5, 7)):
        target = source.unit(5, 7) if weighted else source.unit(5, 7).round()
        yield [x, target, source.plain(5, 7).abs() if weighted else None, reduction], {}
        yield [x, target.clamp(0, 0), None, reduction], {}


@_calls("binary_cross_entropy_backward.default")
def _bce_backward(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for reduction, weighted, x in itertools.product((0, 1, 2), (True, False), source.units(5, 7)):
        target = source.unit(5, 7) if weighted else source.unit(5, 7).round()
        weight = source.plain(7).abs() if weighted else None
        g = source.plain(5, 7) if reduction == 0 else source.plain()
        yield [g, x, target, weight, reduction], {}


def _classes(source: Source, plane: tuple[int, ...]) -> Iterator[tuple[Tensor, Tensor, Tensor | None, int, int]]:
    for reduction, weighted, ignored in ((0, True, 2), (1, True, 2), (2, True, -100), (1, False, -100), (0, False, 2)):
        weight = source.plain(5).abs() if weighted else None
        yield source.x(6, 5, *plane), source.rows(6, *plane, limit=5), weight, reduction, ignored


_rows(
    "nll_loss_forward.default",
    lambda s: [*(list(args) for args in _classes(s, ())), [s.x(5), s.rows(limit=5), None, 1, -100]],
)
_rows("nll_loss2d_forward.default", lambda s: [list(args) for args in _classes(s, (2, 3))])


def _nll_gradients(source: Source, plane: tuple[int, ...]) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    forward = ATEN.nll_loss2d_forward if plane else ATEN.nll_loss_forward
    for args in _classes(source, plane):
        total = forward(*args)[1]
        g = source.x(6, *plane) if args[3] == 0 else source.x()
        yield [g, *args, total], {}


@_calls("nll_loss_backward.default")
def _nll_backward(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    yield from _nll_gradients(source, ())


@_calls("nll_loss2d_backward.default")
def _nll2d_backward(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    yield from _nll_gradients(source, (2, 3))


# Sums over indices.

_rows(
    "embedding_dense_backward.default",
    lambda s: [
        [s.x(3, 7, 4), s.rows(3, 7, limit=5), 5, padding, by_frequency]
        for padding, by_frequency in ((-1, False), (2, False), (0, True))
    ],
)
_rows(
    "index_put.default",
    lambda s: [
        [s.x(5, 4), [s.rows(9, limit=5)], s.x(9, 4), True],
        [s.x(5, 4), [s.rows(9, limit=5), s.rows(9, limit=4)], s.x(9), True],
        [s.x(4, 5), [None, s.rows(9, limit=5)], s.x(4, 9), True],
        [s.x(5, 4), [s.rows(9, limit=5) - 5], s.x(), True],
        [s.x(5), [s.rows(9, 3, limit=5)], s.x(9, 3), True],
        [s.x(5, 4), [s.plain(5) > 0], s.x(4), True],
        [s.x(5, 4), [torch.tensor([3, 1])], s.x(2, 4), False],
    ],
)
_rows(
    "scatter_add.default",
    lambda s: [[s.x(5, 4), 0, s.rows(9, 4, limit=5), s.x(9, 4)], [s.x(5, 4), -1, s.rows(3, 9, limit=4), s.x(5, 9)]],
)
_rows(
    "index_add.default",
    lambda s: [
        [s.x(5, 4), 0, s.rows(9, limit=5), s.x(9, 4)],
        [s.modest(5, 4), 1, s.rows(9, limit=4), s.modest(5, 9), {"alpha": 0.3}],
    ],
)


def _max_pooled(source: Source, axes: int, kernel: int, stride: int) -> list[Any]:
    x = source.x(2, 2, *[6 if axes == 2 else 4] * axes)
    pool = ATEN.max_pool2d_with_indices if axes == 2 else ATEN.max_pool3d_with_indices
    out, indices = pool(x, [kernel] * axes, [stride] * axes)
    settings = [[kernel] * axes, [stride] * axes, [0] * axes, [1] * axes, False, indices]
    return [source.x(*out.shape), x, *settings]


_rows("max_pool2d_with_indices_backward.default", lambda s: [_max_pooled(s, 2, 3, 1), _max_pooled(s, 2, 2, 2)])
_rows("max_pool3d_with_indices_backward.default", lambda s: [_max_pooled(s, 3, 2, 1)])


@_calls("adaptive_max_pool2d_backward.default")
def _adaptive_max_pool(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    x = source.x(2, 2, 7, 7)
    yield [source.x(2, 2, 4, 4), x, ATEN.adaptive_max_pool2d(x, [4, 4])[1]], {}


# Windows.

_rows("adaptive_avg_pool1d.default", lambda s: [[s.x(2, 3, 9), [4]]])
_rows("_adaptive_avg_pool2d.default", lambda s: [[s.x(2, 2, 7, 6), [3, 4]], [s.x(2, 2, 7, 6), [1, 1]]])
_rows("_adaptive_avg_pool3d.default", lambda s: [[s.x(1, 2, 5, 4, 3), [2, 3, 2]]])
_rows("_adaptive_avg_pool2d_backward.default", lambda s: [[s.x(2, 2, 3, 4), s.x(2, 2, 7, 6)]])
_rows("_adaptive_avg_pool3d_backward.default", lambda s: [[s.x(1, 2, 2, 3, 2), s.x(1, 2, 5, 4, 3)]])
_rows("avg_pool1d.default", lambda s: [[s.x(2, 3, 9), [3], [2], [1], True, False], [s.x(2, 3, 9), [3]]])


def _averages(axes: int) -> Iterator[list[Any]]:
    for ceil, padded, divisor in ((False, True, None), (True, False, None), (True, True, None), (False, True, 5)):
        yield [[3] * axes, [2] * axes, [1] * axes, ceil, padded, divisor]


_rows("avg_pool2d.default", lambda s: [[s.x(2, 2, 6, 7), *settings] for settings in _averages(2)])
_rows("avg_pool3d.default", lambda s: [[s.x(1, 1, 4, 4, 3), *settings] for settings in _averages(3)])


@_calls("avg_pool2d_backward.default")
def _avg2d_backward(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for settings in _averages(2):
        x = source.x(2, 2, 6, 7)
        yield [source.x(*ATEN.avg_pool2d.default(x, *settings).shape), x, *settings], {}


@_calls("avg_pool3d_backward.default")
def _avg3d_backward(source: Source) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for settings in _averages(3):
        x = source.x(1, 1, 4, 4, 3)
        yield [source.x(*ATEN.avg_pool3d.default(x, *settings).shape), x, *settings], {}


_rows("unfold_backward.default", lambda s: [[s.x(2, 5, 4), [2, 8], 1, 4, 1], [s.x(3, 4, 5, 3), [3, 9, 5], -2, 3, 2]])
_rows(
    "col2im.default",
    lambda s: [
        [s.x(2, 18, 16), [8, 9], [3, 2], [1, 2], [1, 0], [2, 2]],
        [s.x(18, 16), [8, 9], [3, 2], [1, 2], [1, 0], [2, 2]],
    ],
)
_rows(
    "reflection_pad1d_backward.default replication_pad1d_backward.default",
    lambda s: [[s.x(2, 3, 10), s.x(2, 3, 5), [3, 2]]],
)
_rows(
    "reflection_pad2d_backward.default replication_pad2d_backward.default",
    lambda s: [[s.x(2, 2, 9, 12), s.x(2, 2, 6, 7), [3, 2, 1, 2]]],
)

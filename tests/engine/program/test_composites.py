"""Composite operators become single operations, which together give what the operator gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from counterfoil.program.composites import COMPOSITES, MUTATING
from counterfoil_core.arithmetic.families.table import DEFINITIONS
from counterfoil_core.operators.catalogue import allowed_names, classify
from counterfoil_core.operators.facts import OperatorClass
from support.operator_calls import CALLS, OTHER_CALLS
from support.single import listed, name_of, singly

ATEN = torch.ops.aten
EVERY_CALL = [call for group in (*CALLS.values(), *OTHER_CALLS.values()) for call in group]
TOLERANCE = 2e-5
"""Of the largest element of a result, which float32 with sums in one rounding keeps."""


def narrowed(item: Any) -> Any:
    if isinstance(item, Tensor):
        return item.float() if item.is_floating_point() else item
    if isinstance(item, list):
        return [narrowed(part) for part in item]
    return torch.float32 if item is torch.float64 else item


def widened(item: Any) -> Any:
    return item.double() if isinstance(item, Tensor) and item.is_floating_point() else item


def check(function: Any, args: list[Any], kwargs: dict[str, Any], tolerance: float = TOLERANCE) -> set[str]:
    """Compare with the library in float64 on the same numbers; return the operators that came out."""
    narrow = [narrowed(arg) for arg in args]
    tensors = [arg for arg in narrow if isinstance(arg, Tensor)]

    def called(*given: Tensor) -> Any:
        waiting = iter(given)
        return function(*(next(waiting) if isinstance(arg, Tensor) else arg for arg in narrow), **kwargs)

    found, singles = singly(called, *tensors)
    assert singles.composite == set()
    wide = [torch.float64 if arg is torch.float32 else widened(arg) for arg in narrow]
    expected = listed(function(*wide, **kwargs))
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours is None) == (theirs is None)
        if theirs is None:
            continue
        assert ours.shape == theirs.shape
        assert ours.dtype == (torch.float32 if theirs.is_floating_point() else theirs.dtype)
        scale = float(theirs.detach().abs().max()) if theirs.numel() else 1.0
        torch.testing.assert_close(ours.to(theirs.dtype), theirs, rtol=0, atol=tolerance * max(scale, 1e-3))
    return set(singles.names)


@pytest.mark.parametrize("call", EVERY_CALL, ids=lambda call: call[0])
def test_every_rounded_operator_becomes_single_operations(call: tuple[str, list[Any], dict[str, Any]]) -> None:
    name, args, kwargs = call
    _, packet, overload = name.split(".")
    check(getattr(getattr(ATEN, packet), overload), args, kwargs)


def test_no_rounded_operator_of_the_allow_list_is_left_over() -> None:
    decomposed = {name_of(target) for target in COMPOSITES} | {name_of(target) for target in MUTATING}
    singles = {name for name in allowed_names() if name.split(".")[1] in DEFINITIONS}
    left = {
        name
        for name in allowed_names()
        if classify(name, alpha=0.5).operator_class is OperatorClass.ROUNDED and name not in decomposed | singles
    }
    assert left == set()


def test_whatever_is_decomposed_has_a_call() -> None:
    called = {call[0] for call in EVERY_CALL}
    kinds_called = {name.split(".")[1] for name in called}
    assert {name_of(target).split(".")[1] for target in COMPOSITES} <= kinds_called


# Forward and gradient together, with awkward shapes and settings.

GENERATOR = torch.Generator().manual_seed(5)


def n(*shape: int) -> Tensor:
    return torch.randn(shape, generator=GENERATOR)


def labels(limit: int, *shape: int) -> Tensor:
    return torch.randint(limit, shape, generator=GENERATOR)


def batch_norm(training: bool) -> Callable[..., Tensor]:
    def function(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        mean, var = torch.zeros_like(weight) + 0.3, torch.zeros_like(weight) + 0.7
        return functional.batch_norm(x, mean, var, weight, bias, training=training, momentum=0.3)

    return function


KEPT = labels(5, 7)
KEPT[2] = -100
PLANES = labels(4, 2, 3, 5)
ROWS = torch.tensor([[3, 3, 1], [3, 0, 1]])
FORWARD_AND_BACKWARD: dict[str, tuple[Callable[..., Tensor], list[Tensor]]] = {
    "linear": (functional.linear, [n(5, 7), n(3, 7), n(3)]),
    "linear of one row": (functional.linear, [n(7), n(3, 7), n(3)]),
    "addmm without what is added": (lambda c, a, b: torch.addmm(c, a, b, beta=0, alpha=2), [n(3), n(4, 5), n(5, 3)]),
    "baddbmm": (lambda c, a, b: torch.baddbmm(c, a, b, beta=0.5), [n(2, 4, 3), n(2, 4, 5), n(2, 5, 3)]),
    "conv1d": (lambda x, w, b: functional.conv1d(x, w, b, 2, 1), [n(2, 3, 9), n(4, 3, 3), n(4)]),
    "conv2d, groups": (
        lambda x, w, b: functional.conv2d(x, w, b, (2, 1), (1, 2), (1, 2), 2),
        [n(2, 4, 9, 8), n(6, 2, 3, 2), n(6)],
    ),
    "conv2d of one image": (lambda x, w, b: functional.conv2d(x, w, b), [n(3, 6, 5), n(2, 3, 3, 3), n(2)]),
    "conv3d": (functional.conv3d, [n(1, 2, 4, 5, 4), n(3, 2, 2, 3, 2), n(3)]),
    "conv_transpose2d": (
        lambda x, w, b: functional.conv_transpose2d(x, w, b, 2, 1, 1, 2),
        [n(2, 4, 5, 4), n(4, 3, 3, 2), n(6)],
    ),
    "batch norm, training": (batch_norm(training=True), [n(4, 3, 5), n(3), n(3)]),
    "batch norm of images": (batch_norm(training=True), [n(4, 3, 5, 2) + 3.0, n(3), n(3)]),
    "batch norm, evaluation": (batch_norm(training=False), [n(4, 3, 5, 2), n(3), n(3)]),
    "batch norm of rows": (batch_norm(training=True), [n(6, 3), n(3), n(3)]),
    "batch norm without weights": (lambda x: functional.batch_norm(x, None, None, training=True), [n(4, 3, 5)]),
    "instance norm": (lambda x: functional.instance_norm(x), [n(2, 3, 4, 5)]),
    "layer norm": (lambda x, w, b: functional.layer_norm(x, [5, 2], w, b), [n(4, 3, 5, 2), n(5, 2), n(5, 2)]),
    "layer norm without weights": (lambda x: functional.layer_norm(x, [7]), [n(4, 7)]),
    "layer norm of all": (lambda x, w: functional.layer_norm(x, [7], w), [n(7), n(7)]),
    "group norm": (lambda x, w, b: functional.group_norm(x, 2, w, b), [n(3, 6, 4, 5), n(6), n(6)]),
    "group norm of rows": (lambda x: functional.group_norm(x, 3), [n(3, 15)]),
    "RMS norm": (lambda x, w: functional.rms_norm(x, [7], w), [n(4, 7), n(7)]),
    **{
        name: (getattr(functional, name), [n(4, 6) * 3])
        for name in ("silu", "gelu", "mish", "elu", "celu", "selu", "softplus", "glu", "logsigmoid", "hardswish")
    },
    "gelu, tanh": (lambda x: functional.gelu(x, approximate="tanh"), [n(4, 6) * 3]),
    "gelu in place": (lambda x: functional.silu(x * 1.0, inplace=True), [n(4, 6) * 3]),
    "elu with alpha": (lambda x: functional.elu(x, 0.7), [n(4, 6) * 3]),
    "elu in place": (lambda x: functional.elu(x * 1.0, 0.7, inplace=True), [n(4, 6) * 3]),
    "celu with alpha": (lambda x: functional.celu(x, 0.4), [n(4, 6) * 3]),
    "softplus with beta": (lambda x: functional.softplus(x, 1.7, 2.0), [n(4, 6) * 3]),
    "prelu": (functional.prelu, [n(4, 3, 5), n(3)]),
    "logit": (lambda x: torch.logit(torch.sigmoid(3.0 * x), 0.1), [n(4, 6)]),
    "tanh and sigmoid": (lambda x: torch.tanh(x) * torch.sigmoid(x), [n(4, 6)]),
    "softmax": (lambda x: x.softmax(1), [n(3, 5, 2)]),
    "softmax of a number": (lambda x: x.softmax(0), [n()]),
    "log softmax": (lambda x: x.log_softmax(-1), [n(3, 5)]),
    "logsumexp": (lambda x: x.logsumexp((0, 2)), [n(3, 5, 2)]),
    "logsumexp of a number": (lambda x: x.logsumexp(0), [n()]),
    "logaddexp": (torch.logaddexp, [n(3, 5), n(5)]),
    "mean": (lambda x: x.mean((0, -1)) + x.mean(), [n(3, 5, 2)]),
    "var": (lambda x: x.var((0, 2), correction=0) + x.var(), [n(3, 5, 2)]),
    "std": (lambda x: x.std(1, keepdim=True), [n(3, 5, 2)]),
    **{
        f"norm {order}": (
            lambda x, order=order: torch.linalg.vector_norm(x, order, dim=1) + torch.linalg.vector_norm(x, order),
            [n(3, 5)],
        )
        for order in (1, 2, 3, 0.5, math.inf, -math.inf)
    },
    "powers": (lambda x: x**2 + x**3 + (x * x + 1) ** 0.5 + (x * x + 1) ** -0.5 + (x + 9) ** -1, [n(4, 6)]),
    "powers of integers": (lambda x: x.abs() ** torch.arange(6) + 2.5 ** torch.arange(6), [n(4, 6) + 3]),
    "quotients of integers": (lambda x: x / torch.arange(1, 7) + torch.arange(1, 7) / 5, [n(4, 6)]),
    "means of integers": (lambda x: x + torch.arange(6).to(x.dtype).mean() + (x > 0).sum(dtype=x.dtype), [n(4, 6)]),
    "sums of terms": (lambda x, y: torch.add(x, y, alpha=0.3) + torch.sub(2.0, x, alpha=0.7), [n(4, 6), n(6)]),
    "addcmul": (lambda x, y, z: torch.addcmul(x, y, z, value=0.3), [n(4, 6), n(6), n(4, 6)]),
    "addcdiv": (lambda x, y, z: torch.addcdiv(x, y, z * z + 1, value=0.3), [n(4, 6), n(6), n(4, 6)]),
    "lerp": (torch.lerp, [n(4, 6), n(6), n(4, 6)]),
    "cross entropy": (lambda x: functional.cross_entropy(x, KEPT), [n(7, 5)]),
    "cross entropy, weights": (
        lambda x: functional.cross_entropy(x, KEPT, weight=torch.arange(1, 6).to(x.dtype), label_smoothing=0.1),
        [n(7, 5)],
    ),
    "cross entropy, terms": (lambda x: functional.cross_entropy(x, KEPT, reduction="none"), [n(7, 5)]),
    "cross entropy, sum": (lambda x: functional.cross_entropy(x, PLANES, reduction="sum"), [n(2, 4, 3, 5)]),
    "cross entropy of one row": (lambda x: functional.cross_entropy(x, KEPT[0]), [n(5)]),
    "nll, planes": (lambda x: functional.nll_loss(x, PLANES, ignore_index=2), [n(2, 4, 3, 5)]),
    **{
        f"{name}, {reduction}": (
            lambda x, y, name=name, reduction=reduction, settings=settings: getattr(functional, name)(
                x, y, reduction=reduction, **settings
            ),
            [n(4, 6), n(4, 6)],
        )
        for name, settings in (
            ("mse_loss", {}),
            ("l1_loss", {}),
            ("smooth_l1_loss", {"beta": 0.7}),
            ("huber_loss", {"delta": 0.7}),
            ("smooth_l1_loss", {"beta": 0.0}),
        )
        for reduction in ("mean", "sum", "none")
    },
    "binary cross entropy": (
        lambda x: functional.binary_cross_entropy(
            torch.sigmoid(x), (x.detach() > 0).to(x.dtype), torch.arange(1, 7).to(x.dtype)
        ),
        [n(4, 6)],
    ),
    "KL divergence": (
        lambda x: functional.kl_div(x.log_softmax(1), x.detach().flip(0).softmax(1), reduction="batchmean"),
        [n(4, 6)],
    ),
    "average pooling": (lambda x: functional.avg_pool1d(x, 3, 2), [n(2, 3, 9)]),
    "average pooling, ceil": (
        lambda x: functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
        [n(2, 3, 8, 7)],
    ),
    "average pooling, ceil and padding": (lambda x: functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True), [n(3, 8, 6)]),
    "average pooling, gaps": (lambda x: functional.avg_pool2d(x, 2, 3, 1), [n(2, 3, 8, 9)]),
    "average pooling, divisor": (lambda x: functional.avg_pool2d(x, 2, divisor_override=3), [n(2, 3, 8, 9)]),
    "average pooling in 3d": (lambda x: functional.avg_pool3d(x, (2, 3, 2), (1, 2, 2), (1, 1, 0)), [n(1, 2, 4, 7, 5)]),
    "adaptive, even": (lambda x: functional.adaptive_avg_pool2d(x, (2, 3)), [n(2, 3, 8, 9)]),
    "adaptive": (lambda x: functional.adaptive_avg_pool2d(x, (3, 5)), [n(2, 3, 8, 9)]),
    "adaptive, larger": (lambda x: functional.adaptive_avg_pool1d(x, 7), [n(2, 3, 4)]),
    "adaptive to one": (lambda x: functional.adaptive_avg_pool2d(x, 1), [n(2, 3, 4, 5)]),
    "adaptive in 3d": (lambda x: functional.adaptive_avg_pool3d(x, (2, 3, 2)), [n(2, 3, 5, 4, 3)]),
    "maximum pooling": (lambda x: functional.max_pool2d(x, 3, 2, 1, ceil_mode=True), [n(2, 3, 8, 7)]),
    "reflection in 1d": (lambda x: functional.pad(x, (3, 2), "reflect"), [n(2, 3, 5)]),
    "reflection": (lambda x: functional.pad(x, (3, 1, 0, 2), "reflect"), [n(2, 3, 5, 4)]),
    "replication in 1d": (lambda x: functional.pad(x, (3, 7), "replicate"), [n(2, 3, 5)]),
    "replication": (lambda x: functional.pad(x, (3, -1, 0, 6), "replicate"), [n(2, 3, 5, 4)]),
    "embedding": (lambda w: functional.embedding(ROWS, w, padding_idx=1), [n(5, 4)]),
    "embedding by frequency": (lambda w: functional.embedding(ROWS, w, scale_grad_by_freq=True), [n(5, 4)]),
    "index_add with a factor": (lambda x, y: x.index_add(0, torch.tensor([1, 1, 0]), y, alpha=0.3), [n(4, 6), n(3, 6)]),
    "folding": (lambda x: functional.fold(functional.unfold(x, 3, 2, 1, 2), (8, 7), 3, 2, 1, 2), [n(2, 3, 8, 7)]),
    "attention": (functional.scaled_dot_product_attention, [n(2, 2, 5, 4), n(2, 2, 5, 4), n(2, 2, 5, 4)]),
    "product": (lambda x: x.detach().prod(1) * x.sum(1) + x.detach().prod(), [n(4, 7)]),
}


def with_gradients(function: Callable[..., Tensor], count: int) -> Callable[..., list[Tensor]]:
    def both(*args: Tensor) -> list[Tensor]:
        leaves = [arg.detach().requires_grad_() for arg in args[:-1]]
        y = function(*leaves)
        return [y, *torch.autograd.grad(y, leaves, args[-1].to(y.dtype).expand(y.shape))]

    return both


@pytest.mark.parametrize("name", FORWARD_AND_BACKWARD)
def test_result_and_gradients_are_the_librarys(name: str) -> None:
    function, args = FORWARD_AND_BACKWARD[name]
    shape = function(*args).shape
    weighing = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    with sdpa_kernel(SDPBackend.MATH):
        check(with_gradients(function, len(args)), [*args, weighing], {})


@pytest.mark.parametrize("length", [0, 1, 2, 3, 7, 8])
def test_products_of_any_length(length: int) -> None:
    x = n(3, length)
    check(ATEN.prod.dim_int, [x, 1, True], {})
    check(ATEN.prod.default, [x], {})


# Extreme arguments: what the library gives, and no operation gives infinity or no number in between.

INFINITY = math.inf
EXTREME: dict[str, tuple[Callable[..., Tensor], list[Tensor]]] = {
    "masked softmax": (lambda x: x.softmax(1), [torch.tensor([[0.0, -INFINITY, 3.0], [-INFINITY, -INFINITY, -3e38]])]),
    "softmax of large numbers": (lambda x: x.softmax(1), [torch.tensor([[3e38, 3e38, -3e38], [88.0, 89.0, 1e-30]])]),
    "safe softmax": (
        lambda x: ATEN._safe_softmax(x, 1),
        [torch.tensor([[-INFINITY, -INFINITY], [-INFINITY, 1e30], [-1e30, 1e30]])],
    ),
    "log softmax": (lambda x: x.log_softmax(1), [torch.tensor([[1e30, 0.0, -1e30], [-INFINITY, 0.0, 5.0]])]),
    "logsumexp": (lambda x: x.logsumexp(1), [torch.tensor([[1e30, 0.0], [-INFINITY, 5.0], [88.9, 88.9]])]),
    "logaddexp": (
        torch.logaddexp,
        [torch.tensor([1e30, -INFINITY, 200.0, 5.0]), torch.tensor([0.0, 3.0, -200.0, 5.0])],
    ),
    "layer norm of equal numbers": (lambda x: functional.layer_norm(x, [5]), [torch.full((3, 5), 7.7)]),
    "layer norm far from zero": (
        lambda x: functional.layer_norm(x, [4]),
        [torch.tensor([[1e6, 1e6 + 1, 1e6 + 2, 1e6 + 3]])],
    ),
    "layer norm of tiny numbers": (lambda x: functional.layer_norm(x, [4], eps=1e-12), [n(3, 4) * 1e-18]),
    "batch norm of equal numbers": (
        lambda x: functional.batch_norm(x, None, None, training=True),
        [torch.ones(4, 3, 2)],
    ),
    "deviation of equal numbers": (lambda x: x.var(1), [torch.full((3, 5), 0.1)]),
    "norm of zeros": (lambda x: torch.linalg.vector_norm(x, dim=1), [torch.zeros(3, 5)]),
    **{
        name: (getattr(functional, name), [torch.tensor([-3e38, -200.0, -30.0, -1e-40, 0.0, 1e-40, 30.0, 200.0, 3e38])])
        for name in ("silu", "elu", "celu", "selu", "softplus", "mish", "logsigmoid")
    },
    "gelu": (functional.gelu, [torch.tensor([-1e18, -200.0, -30.0, -1e-40, 0.0, 30.0, 200.0, 1e18])]),
    "gelu, tanh": (
        lambda x: functional.gelu(x, approximate="tanh"),
        [torch.tensor([-1e12, -200.0, -30.0, -1e-40, 0.0, 30.0, 200.0, 1e12])],
    ),
    "binary cross entropy": (
        lambda x: functional.binary_cross_entropy(
            x, torch.tensor([0.0, 1.0, 0.0, 1.0, 1.0, 0.3]).to(x.dtype), reduction="none"
        ),
        [torch.tensor([0.0, 0.0, 1.0, 1.0, 1e-45, 0.5])],
    ),
    "logit": (lambda x: torch.logit(x, 1e-3), [torch.tensor([-1.0, 0.0, 1e-3, 0.5, 0.99, 1.0, 3.0])]),
    "cross entropy of certainty": (
        lambda x: functional.cross_entropy(x, torch.tensor([0, 1])),
        [torch.tensor([[1e4, -1e4], [1e4, -1e4]])],
    ),
}


@pytest.mark.parametrize("gradients", [False, True], ids=["result", "gradients"])
@pytest.mark.parametrize("name", EXTREME)
def test_extreme_arguments(name: str, gradients: bool) -> None:
    function, args = EXTREME[name]
    if not gradients:
        check(function, args, {})
        return
    if name in ("norm of zeros", "logsumexp", "logaddexp"):
        pytest.skip("the library's own formula of the gradient divides by zero, or takes infinity from infinity")
    check(with_gradients(function, len(args)), [*args, torch.ones(function(*args).shape)], {})


def test_layer_norm_of_equal_numbers_is_not_noise() -> None:
    """A control of the test above, whose tolerance is of the largest element: here all are zero, to the bit."""
    x = torch.full((3, 5), 7.7)
    found, _ = singly(lambda x: functional.layer_norm(x, [5]), x)
    assert torch.equal(found[0], torch.zeros(3, 5))


def test_softplus_overflows_nowhere() -> None:
    """The library does, where its threshold is higher than the largest exponent."""
    x = torch.tensor([-1e30, 9e3, 1.1e4])
    found, _ = singly(lambda x: functional.softplus(x, 1, 1e4), x)
    assert torch.equal(found[0], torch.tensor([0.0, 9e3, 1.1e4]))


@pytest.mark.parametrize("shape", [(4, 3, 5, 2), (6, 3)])
@pytest.mark.parametrize("training", [False, True])
def test_running_statistics(shape: tuple[int, ...], training: bool) -> None:
    def function(x: Tensor, old_mean: Tensor, old_var: Tensor) -> list[Tensor]:
        mean, var = old_mean + 0.0, old_var + 0.0
        y = functional.batch_norm(x, mean, var, training=training, momentum=0.3)
        return [y, mean, var]

    check(function, [n(*shape) + 3.0, n(3), n(3).square() + 0.5], {})

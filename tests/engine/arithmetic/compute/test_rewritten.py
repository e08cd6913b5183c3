"""Every rounded operator by another algorithm: within its proven bound of the exact value, and with other last bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.families import pointwise
from counterfoil_core.arithmetic.otherwise.perturbation import perturb
from counterfoil_core.arithmetic.otherwise.rewriting import VARIANTS, rewritten_kinds
from counterfoil_core.operators.catalogue import classify
from support.boundary_calls import boundary_calls, fuzzed_names
from support.error_bounds import rounded_names, worst
from support.operator_calls import ATEN, CALLS, OTHER_CALLS, Call, listed, operation_of, t

EVERY = {**CALLS, **OTHER_CALLS}
NAMES = [f"rewritten-{variant}" for variant in range(VARIANTS)]
SAME = {
    "_prelu_kernel": "one correctly rounded product for each element",
    "_prelu_kernel_backward": "one correctly rounded product for each element",
    "prod": "a form of our own: correctly rounded products of significands, in one order",
}
"""Kinds whose result has no freedom, each with the reason."""


def results(call: Call, name: str) -> tuple[list[Any], list[Any]]:
    operation = operation_of(call)
    _, args, kwargs = call
    return (
        listed(native(operation, list(args), dict(kwargs))),
        listed(perturb(name)(operation, list(args), dict(kwargs))),
    )


def test_every_rounded_kind_has_another_algorithm() -> None:
    kinds = {name.split(".")[1] for name in rounded_names()}
    assert rewritten_kinds() == kinds - {"prod"}


@pytest.mark.sampled(67)
@pytest.mark.parametrize("operator", sorted(fuzzed_names()))
def test_it_stays_within_the_bound(operator: str) -> None:
    """Also on numbers that are hard: whoever computes like this is an honest machine."""
    for mood, call in boundary_calls(operator):
        found = []
        for name in NAMES:
            own, other = results(call, name)
            for a, b in zip(own, other, strict=True):
                assert (a is None) == (b is None)
                if a is not None:
                    assert (a.shape, a.dtype) == (b.shape, b.dtype), (mood, call)
            found.append(other)
        share, _ = worst(call, *found)
        assert share <= 1.0, (mood, call)


def larger(call: Call) -> Call:
    """The same with a hundred times the rows, where all arguments have them: a last bit may differ in one of many."""
    name, args, kwargs = call
    tensors = [a for a in args if isinstance(a, Tensor)]
    shapes = {a.shape for a in tensors if a.dim()}
    if classify(name, alpha=0.3).scale not in pointwise.SCALES or len(shapes) > 1:
        return call
    factors = torch.linspace(0.5, 1.5, 100).double()
    return name, [torch.cat([a * f for f in factors]) if isinstance(a, Tensor) and a.dim() else a for a in args], kwargs


def overlapping() -> Call:
    """Windows of an adaptive maximum, of which three or more meet in some elements."""
    x = t(8, 8, 7, 7)
    args = [t(8, 8, 4, 4, number=1), x, ATEN.adaptive_max_pool2d(x, [4, 4])[1]]
    return "aten.adaptive_max_pool2d_backward.default", args, {}


MORE = {
    # Of small numbers the C library's is the same formula.
    "asinh": [("aten.asinh.default", [t(99) * 10], {})],
    "adaptive_max_pool2d_backward": [overlapping()],
    "huber_loss_backward": [("aten.huber_loss_backward.default", [t(), t(99), t(99, number=1), 1, 0.1], {})],
}


def differs(call: Call, name: str) -> bool:
    own, other = results(call, name)
    return any(isinstance(a, Tensor) and not torch.equal(a, b) for a, b in zip(own, other, strict=True))


@pytest.mark.parametrize("kind", sorted(EVERY.keys() & (rewritten_kinds() | SAME.keys())))
def test_its_last_bits_are_others(kind: str) -> None:
    """Else it would be the same algorithm again."""
    calls = [*EVERY[kind], *MORE.get(kind, [])]
    found = {name for name in NAMES for call in calls if differs(call, name) or differs(larger(call), name)}
    assert bool(found) == (kind not in SAME), found


@pytest.mark.parametrize("kind", ["mm", "sum", "exp", "native_layer_norm", "_softmax", "convolution"])
def test_the_two_variants_differ(kind: str) -> None:
    def computed(call: Call, name: str) -> list[Any]:
        return results(call, name)[1]

    assert any(
        not torch.equal(a, b)
        for call in EVERY[kind]
        for a, b in zip(computed(call, NAMES[0]), computed(call, NAMES[1]), strict=True)
        if a is not None
    )


@pytest.mark.parametrize("kind", sorted(CALLS.keys() & rewritten_kinds()))
def test_an_order_applies_to_what_it_reads(kind: str) -> None:
    for call in CALLS[kind]:
        own, other = results(call, "shuffled-3+rewritten-1+jitter-2")
        for a, b in zip(own, other, strict=True):
            assert a is None or torch.allclose(a, b, rtol=1e-12, atol=1e-12)


def test_float32_stays_float32() -> None:
    for kind, calls in EVERY.items():
        if kind not in rewritten_kinds():
            continue
        for operator, args, kwargs in calls:
            narrow = [a.float() if isinstance(a, Tensor) and a.is_floating_point() else a for a in args]
            narrow = [torch.float32 if a is torch.float64 else a for a in narrow]
            own, other = results((operator, narrow, kwargs), "rewritten-1")
            for a, b in zip(own, other, strict=True):
                if a is not None and b is not None:  # a library may compute more than it was asked for
                    assert (a.dtype, a.shape) == (b.dtype, b.shape), operator
                    assert torch.allclose(a, b, rtol=1e-4, atol=1e-4), operator


def test_control_a_function_with_an_absolute_error_is_told_apart() -> None:
    """The sigmoid as half of 1 + tanh is no conforming one where all arguments are negative."""
    (call,) = [call for mood, call in boundary_calls("aten.sigmoid.default") if mood == "negative"][:1]
    x = call[1][0] - 20.0
    call = (call[0], [x], {})
    assert worst(call, [0.5 + 0.5 * torch.tanh(0.5 * x)])[0] > 1.0
    assert worst(call, results(call, NAMES[1])[1])[0] <= 1.0


def test_a_large_norm_stays_within_the_bound_of_its_form() -> None:
    """The library adds a million squares in an order of its own; in blocks, every machine is near enough."""
    # Near 2^20 each of these squares is rounded down when it is added, so the errors do not cancel.
    x = torch.full((2**20,), 1.0 + 0.98 * 2.0**-35, dtype=torch.float64)
    call: Call = ("aten.linalg_vector_norm.default", [x, 2], {})
    for name in NAMES:
        assert worst(call, results(call, name)[1])[0] <= 1.0
    one_after_another = torch.from_numpy(np.sqrt(np.cumsum((x * x).numpy())[-1:])).reshape(())
    assert worst(call, [one_after_another])[0] > 1.0

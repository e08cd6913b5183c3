"""Layer norm and batch norm in compiled loops: the form's values, within the bounds, on any number of threads."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor

from counterfoil_core.arithmetic.families.parts import Run, natively
from counterfoil_core.kernels.cpu import norms, pairsums
from counterfoil_core.operators import sums
from support.error_bounds import allowances, worst
from support.operator_calls import ATEN, Call, operation_of, t

EPS = 1e-5
Three = list[bool]


def layer_norm(shape: tuple[int, ...], inner: int = 1, *, weight: bool = True, bias: bool = True) -> Call:
    normalized = list(shape[len(shape) - inner :])
    w, b = (t(*normalized, number=n) if given else None for n, given in ((1, weight), (2, bias)))
    return "aten.native_layer_norm.default", [t(*shape), normalized, w, b, EPS], {}


def layer_norm_backward(
    shape: tuple[int, ...], inner: int = 1, *, weight: bool = True, mask: Three | None = None
) -> Call:
    x, normalized, w, b, _ = layer_norm(shape, inner, weight=weight)[1]
    _, mean, rstd = ATEN.native_layer_norm.default(x, normalized, w, b, EPS)
    args = [t(*shape, number=3), x, normalized, mean, rstd, w, b, mask or [True, True, True]]
    return "aten.native_layer_norm_backward.default", args, {}


def batch_norm(shape: tuple[int, ...], *, weight: bool = True, bias: bool = True, running: bool = True) -> Call:
    w, b, mean, variance = (t(shape[1], number=n) for n in range(1, 5))
    given = [t(*shape), w if weight else None, b if bias else None]
    if not running:
        return "aten._native_batch_norm_legit.no_stats", [*given, True, 0.1, EPS], {}
    return "aten._native_batch_norm_legit_functional.default", [*given, mean, variance.abs(), True, 0.1, EPS], {}


def batch_norm_backward(shape: tuple[int, ...], *, weight: bool = True, mask: Three | None = None) -> Call:
    x, w, b, *_ = batch_norm(shape)[1]
    _, mean, rstd = ATEN._native_batch_norm_legit.no_stats(x, w, b, True, 0.1, EPS)
    args = [t(*shape, number=3), x, w if weight else None, None, None, mean, rstd, True, EPS, mask or [True] * 3]
    return "aten.native_batch_norm_backward.default", args, {}


ROWS = [(1, 1), (3, 7), (5, 128), (2, 129), (3, 5, 300), (37, 24), (259, 3), (2, 3, 5, 2)]
CHANNELS = [(4, 3), (1, 2, 9), (5, 3, 1, 7), (3, 2, 16, 16), (2, 3, 17, 19), (2, 2, 3, 10, 11), (150, 2, 2)]
MASKS = [mask for mask in itertools.product((False, True), repeat=3) if any(mask)]
CALLS = [
    *(make(shape) for shape in ROWS for make in (layer_norm, layer_norm_backward)),
    *(make((6, 2, 5, 4), inner) for inner in (2, 3) for make in (layer_norm, layer_norm_backward)),
    layer_norm((9, 33), weight=False, bias=False),
    layer_norm((9, 33), weight=False),
    layer_norm((9, 33), bias=False),
    layer_norm_backward((9, 33), weight=False, mask=[True, False, False]),
    *(layer_norm_backward((9, 33), mask=list(mask)) for mask in MASKS),
    *(make(shape) for shape in CHANNELS for make in (batch_norm, batch_norm_backward)),
    *(batch_norm((5, 3, 9), weight=w, bias=b, running=w) for w, b in itertools.product((False, True), repeat=2)),
    batch_norm_backward((5, 3, 9), weight=False),
    *(batch_norm_backward((5, 3, 9), mask=list(mask)) for mask in MASKS),
]
IDS = [f"{name.split('.')[1]}-{number}" for number, (name, _, _) in enumerate(CALLS)]


def outputs(call: Call, run: Run) -> list[Any]:
    name, args, kwargs = call
    operation = operation_of(call)
    form = operation.own_form(args, kwargs)
    assert form is not None, f"{name} has a form of our own"
    return list(form(run))


def by_pieces(call: Call) -> list[Any]:
    """What the form gives where each of its pieces is computed by itself."""
    return outputs(call, lambda name, *args: natively(name, *args))


@contextmanager
def threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@pytest.fixture
def looped(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which compiled loops ran."""
    seen: list[str] = []

    def noted(name: str) -> Callable[..., Any]:
        function = getattr(norms, name)
        return lambda arguments: (seen.append(name), function(arguments))[1]

    for name in ("layer_norm", "layer_norm_backward", "batch_norm", "batch_norm_backward"):
        monkeypatch.setattr(norms, name, noted(name))
    return seen


def compare(call: Call, found: list[Any], expected: list[Any]) -> None:
    """Both are computed within the bound, so that twice it lies between them at most."""
    arguments = operation_of(call).named(list(call[1]), dict(call[2]))
    for one, other, allowed in zip(found, expected, allowances(call, arguments, expected), strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert one.shape == other.shape
            assert one.is_contiguous()
            assert allowed is not None
            assert float((one - other).abs().max()) <= 2 * allowed


@pytest.mark.parametrize("call", CALLS, ids=IDS)
def test_the_values_of_the_pieces(call: Call, looped: list[str]) -> None:
    given = [argument.clone() if isinstance(argument, Tensor) else argument for argument in call[1]]
    compare(call, outputs(call, natively), by_pieces(call))
    assert len(looped) == 1
    for argument, before in zip(call[1], given, strict=True):
        assert not isinstance(argument, Tensor) or torch.equal(argument, before)


@pytest.mark.parametrize(
    "call",
    [layer_norm((3, 200)), layer_norm_backward((9, 130)), batch_norm((3, 2, 17)), batch_norm_backward((3, 2, 300))],
    ids=lambda call: call[0].split(".")[1],
)
def test_exact_values_are_within_the_bound(call: Call) -> None:
    share, seen = worst(call)
    assert seen > 10
    assert share <= 1.0


@pytest.mark.parametrize(
    "call",
    [
        layer_norm((4, 5, 6), 2),
        layer_norm_backward((4, 5, 6), 2),
        batch_norm((4, 5, 6)),
        batch_norm_backward((4, 5, 6)),
    ],
    ids=lambda call: call[0].split(".")[1],
)
def test_strides_are_no_part_of_a_value(call: Call, looped: list[str]) -> None:
    name, args, kwargs = call

    def strided(x: Any) -> Any:
        if not isinstance(x, Tensor):
            return x
        wide = x.new_full((*x.shape[:-1], 2 * x.shape[-1]), math.nan).transpose(0, -1).contiguous().transpose(0, -1)
        wide[..., ::2] = x
        return wide[..., ::2]

    found = outputs((name, [strided(x) for x in args], kwargs), natively)
    for one, other in zip(found, outputs(call, natively), strict=True):
        assert torch.equal(one, other)
    assert len(looped) == 2


@pytest.mark.parametrize(
    "call",
    [
        layer_norm((700, 96)),
        layer_norm_backward((700, 96)),
        batch_norm((9, 30, 300)),
        batch_norm_backward((9, 30, 300)),
    ],
    ids=lambda call: call[0].split(".")[1],
)
def test_threads_change_no_bit(call: Call) -> None:
    alone = outputs(call, natively)
    for count in (2, 3):
        with threads(count):
            for one, other in zip(outputs(call, natively), alone, strict=True):
                assert torch.equal(one, other)


@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 127, 128, 129, 255, 256, 300, 1024, 1025, 128 * 7 + 5])
def test_no_term_is_left_out_or_counted_twice(length: int) -> None:
    # Sums of integers are exact in any order, and powers of two tell terms apart.
    x = (2.0 ** (torch.arange(length) % 20)).double().expand(3, length).contiguous()
    call: Call = ("aten.native_layer_norm.default", [x, [length], None, None, EPS], {})
    assert torch.equal(outputs(call, natively)[1], x.sum(1, keepdim=True) / length)
    as_channels: Call = ("aten._native_batch_norm_legit.no_stats", [x.T[:, :, None], None, None, True, 0.1, EPS], {})
    assert torch.equal(outputs(as_channels, natively)[1], x.sum(1) / length)
    rows = x.T.contiguous()
    zeros, ones = torch.zeros(length, 1).double(), torch.ones(length, 1).double()
    gradient: Call = (
        "aten.native_layer_norm_backward.default",
        [rows, rows, [3], zeros, ones, torch.ones(3).double(), torch.ones(3).double(), [False, True, True]],
        {},
    )
    _, to_weight, to_bias = outputs(gradient, natively)
    assert torch.equal(to_bias, x.sum(1))
    assert torch.equal(to_weight, (x * x).sum(1))


def test_a_term_passes_no_more_additions_than_in_blocks() -> None:
    lengths = [*range(1, 140), 255, 256, 257, 1000, 4096, 50257, 1 << 20]
    short = [1, 2, 3, 4, 5, 8, 13, 31, 64, 128, 129]
    shapes = [(n,) for n in lengths] + [s for axes in (2, 3, 4) for s in itertools.product(short, repeat=axes)]
    for shape in shapes:
        n, most = math.prod(shape), sums.blocked_terms(shape)
        assert pairsums.additions(n) <= most
        assert norms.additions_of_rows(n) <= most
    # Runs of a channel are summed first, and then their sums.
    for batch, run in itertools.product(lengths, lengths):
        assert pairsums.additions(batch) + pairsums.additions(run) <= sums.blocked_terms([batch, run])


def test_other_tensors_are_computed_by_pieces(looped: list[str]) -> None:
    name, args, kwargs = layer_norm((3, 8))
    single = [x.float() if isinstance(x, Tensor) else x for x in args]
    assert outputs((name, single, kwargs), natively)[0].dtype == torch.float32
    empty = [torch.zeros(0, 8).double(), *args[1:]]
    assert outputs((name, empty, kwargs), natively)[0].shape == (0, 8)
    name, args, kwargs = batch_norm_backward((3, 2, 4))
    evaluated = [*args[:3], t(2), t(2).abs(), *args[5:7], False, *args[8:]]
    compare(
        (name, evaluated, kwargs),
        outputs((name, evaluated, kwargs), natively),
        by_pieces((name, evaluated, kwargs)),
    )
    assert not looped


@pytest.mark.parametrize(
    ("call", "places"),
    [
        (layer_norm((3, 8)), {1: [1]}),
        (layer_norm((3, 8)), {2: t(1)}),
        (layer_norm((3, 8)), {3: t(1, 8)}),
        (layer_norm_backward((3, 8)), {3: t(1)}),
        (layer_norm_backward((3, 8)), {0: t(1, 8)}),
        (layer_norm_backward((3, 8)), {5: t(1)}),
        (batch_norm((3, 2, 4)), {1: t(1)}),
        (batch_norm((3, 2, 4)), {3: t(1)}),
        (batch_norm_backward((3, 2, 4)), {0: t(3, 2, 1)}),
        (batch_norm_backward((3, 2, 4)), {2: t(1)}),
        (batch_norm_backward((3, 2, 4)), {5: t(1)}),
    ],
)
def test_loops_get_no_tensors_whose_shapes_do_not_fit(call: Call, places: dict[int, Any], looped: list[str]) -> None:
    name, args, kwargs = call
    changed = [places.get(place, argument) for place, argument in enumerate(args)]
    with contextlib.suppress(RuntimeError, IndexError, TypeError):
        outputs((name, changed, kwargs), natively)
    assert not looped
    outputs(call, natively)
    assert len(looped) == 1


def test_control_a_wrong_last_term_is_seen() -> None:
    call = layer_norm_backward((9, 33))
    found = outputs(call, natively)
    found[1][0] *= 1 + 2.0**-40
    with pytest.raises(AssertionError):
        compare(call, found, by_pieces(call))

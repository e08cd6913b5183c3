"""Forms of our own: the library's values, in blocks whose sums a term passes through few additions of."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.families.parts import natively
from counterfoil_core.arithmetic.families.table import FORMS
from counterfoil_core.arithmetic.otherwise.perturbation import perturb
from counterfoil_core.operators import sums
from support.operator_calls import ATEN, CALLS, OTHER_CALLS, Call, convolution_backward, listed, operation_of, t

EVERY = {**CALLS, **OTHER_CALLS}
INF = math.inf


def call(name: str, *args: Any, **kwargs: Any) -> Call:
    return f"aten.{name}", list(args), kwargs


def long_convolution(*shape: int, stride: int, padding: int, dilation: int) -> Call:
    """A gradient whose samples have so many positions that rows of them are parts."""
    x, axes = t(*shape), len(shape) - 2
    weight = t(4, shape[1], *[3] * axes, number=1)
    settings = [[stride] * axes, [padding] * axes, [dilation] * axes, False, [0] * axes, 1]
    g = t(*ATEN.convolution.default(x, weight, None, *settings).shape, number=2)
    return call("convolution_backward.default", g, x, weight, [4], *settings, [True, True, True])


LABELS = (torch.arange(24) * 5 % 7).reshape(2, 12)
REPEATED = (torch.arange(30) ** 2 % 6).reshape(5, 6)
MASKED = t(4, 9).masked_fill(torch.arange(9) % 2 == 0, -INF)
MASKED[1] = -INF
MORE: list[Call] = [
    call("sum.dim_IntList", t(7, 5, 9), [0, -1], True),
    call("sum.dim_IntList", t(7, 5, 9).transpose(0, 2), [0, 1]),
    call("sum.dim_IntList", t(0, 5), [0]),
    call("mean.dim", t(7, 5, 9), [-2]),
    call("linalg_vector_norm.default", t(7, 5, 9), 1, [0, 2], True),
    call("linalg_vector_norm.default", t(7, 5, 9), 3.5, [0, 2], True),
    call("linalg_vector_norm.default", torch.zeros(3, 4).double(), -2, [1]),
    call("linalg_vector_norm.default", torch.zeros(3, 4).double(), 3, [1]),
    call("linalg_vector_norm.default", t(7), INF),
    call("linalg_vector_norm.default", t(7), 0),
    call("prod.default", t(3, 5)),
    call("prod.dim_int", t(3, 5) * torch.tensor([1, 1, 0, 1, 1]), 1),
    call("prod.dim_int", torch.zeros(3, 0).double(), 1, True),
    call("prod.dim_int", t(4, 7), -1),
    call("var.correction", t(7, 5, 9), [0, 2], correction=0, keepdim=True),
    call("var.correction", t(7), None, correction=0),
    call("std.correction", t(7, 5, 9), [-1]),
    call("var_mean.correction", t(7, 5, 9), [0, 2], correction=1),
    call("native_layer_norm.default", t(3, 4, 5), [4, 5], None, None, 1e-5),
    call("native_layer_norm.default", t(3, 4, 5), [4, 5], t(4, 5), None, 1e-5),
    call("native_group_norm.default", t(2, 6, 5), None, None, 2, 6, 5, 2, 1e-5),
    call("cumsum.default", t(7, 9, 2), -2),
    call("cumsum.default", t(1, 9), 0),
    call("_softmax.default", MASKED[:1], -1, False),
    call("_safe_softmax.default", MASKED, 1),
    call("_log_softmax.default", t(7, 9, 2), 1, False),
    call("logsumexp.default", MASKED, [1], True),
    call("logsumexp.default", t(7, 9, 2), [0, 2]),
    call("_softmax_backward_data.default", t(9, 4), torch.softmax(t(9, 4), 0), -2, torch.float64),
    call("nll_loss_forward.default", t(24, 7), LABELS.flatten(), t(7).abs(), 1, 3),
    call("nll_loss_forward.default", t(24, 7), LABELS.flatten() - 100 * (LABELS.flatten() == 2), None, 2, -98),
    call("nll_loss2d_forward.default", t(2, 7, 3, 4), LABELS.reshape(2, 3, 4), t(7).abs(), 1, 3),
    call("binary_cross_entropy.default", t(9, 5).abs(), t(9, 5).abs(), t(5).abs(), 1),
    call("huber_loss.default", t(9, 5), t(9, 5, number=1), 2, 0.1),
    call("embedding_dense_backward.default", t(5, 6, 3), REPEATED, 8, 4, False),
    call("embedding_dense_backward.default", t(5, 6, 3), REPEATED, 8, -1, True),
    call("index_add.default", t(4, 9, 2), 1, torch.tensor([3, 3, 0, 8, 3]), t(4, 5, 2), alpha=-2),
    call("scatter_add.default", t(6, 8), 0, REPEATED, t(7, 9)),
    call("scatter_add.default", t(7, 8), 1, REPEATED, t(5, 6)),
    call("index_put.default", t(7, 3), [REPEATED], t(5, 6, 3), True),
    call("index_put.default", t(7, 8), [REPEATED.flatten(), REPEATED.flatten() - 6], t(30), True),
    call("index_put.default", t(3, 7, 2), [None, REPEATED], t(3, 5, 6, 2), True),
    call("index_put.default", t(6, 3, 7), [REPEATED[0], None, REPEATED[1]], t(6, 3), True),
    call("index_put.default", t(7, 6, 4), [REPEATED[:, :1], REPEATED[0]], t(5, 6, 4), True),
    call("index_put.default", t(7, 6), [REPEATED[0]], t(6), True),
    call("index_put.default", t(7, 6), [torch.arange(7) < 3], t(), True),
    call("avg_pool2d.default", t(2, 3, 9, 8), [4, 3], [2, 3], [1, 1], True, False),
    call("avg_pool2d.default", t(2, 3, 9, 8), [4, 3], [], [2, 1], False, True, 7),
    call("avg_pool3d.default", t(2, 3, 5, 6, 7), [2, 3, 2], [2], [1], True),
    call("_adaptive_avg_pool2d.default", t(2, 3, 9, 8), [4, 1]),
    call("_adaptive_avg_pool3d.default", t(2, 3, 5, 6, 7), [2, 6, 3]),
    long_convolution(2, 3, 41, stride=1, padding=1, dilation=1),
    long_convolution(2, 3, 13, 9, stride=2, padding=2, dilation=1),
    long_convolution(3, 3, 13, 9, stride=1, padding=0, dilation=2),
    long_convolution(2, 3, 6, 5, 7, stride=2, padding=1, dilation=1),
    convolution_backward(groups=2, stride=2),
    convolution_backward(transposed=True, stride=2),
]
CASES = [c for kind in sorted(EVERY) if kind in FORMS for c in EVERY[kind]] + MORE
IDS = [f"{c[0].removeprefix('aten.')}-{number}" for number, c in enumerate(CASES)]


@pytest.fixture
def everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every operator that has a form of our own is computed in it, in blocks that small tensors fill."""
    monkeypatch.setattr(sums, "LONGEST", 0)
    monkeypatch.setattr(sums, "SHORT", 4)
    monkeypatch.setattr(sums, "PART", 4)


def same(one: Any, other: Any) -> None:
    for a, b in zip(listed(one), listed(other), strict=True):
        if b is None:  # float32 convolutions return more than was asked for
            continue
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        assert torch.equal(a.isnan(), b.isnan())
        finite = torch.isfinite(a) & torch.isfinite(b)
        assert torch.equal(a[~finite & ~a.isnan()], b[~finite & ~b.isnan()])
        if finite.any():
            size = max(float(a[finite].abs().max()), 1e-3)
            assert float((a - b)[finite].abs().max()) <= (1e-12 if a.dtype == torch.float64 else 1e-4) * size


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_librarys_values(case: Call) -> None:
    _, args, kwargs = case
    operation = operation_of(case)
    same(operation.function(*args, **kwargs), native(operation, list(args), dict(kwargs)))


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_in_float32_as_well(case: Call) -> None:
    def single(value: Any) -> Any:
        if isinstance(value, Tensor) and value.is_floating_point():
            return value.float()
        return torch.float32 if value is torch.float64 else value

    name, args, kwargs = case
    args = [single(value) for value in args]
    operation = operation_of((name, args, kwargs))
    same(operation.function(*args, **kwargs), native(operation, list(args), dict(kwargs)))


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_shapes_are_known_without_memory(case: Call) -> None:
    name, args, kwargs = case
    if name == "aten.index_put.default" and args[1][0] is not None and args[1][0].dtype == torch.bool:
        pytest.skip("a mask selects a number of elements that only values tell")
    operation = operation_of(case)
    real = listed(native(operation, list(args), dict(kwargs)))
    with FakeTensorMode(allow_non_fake_inputs=False) as mode:
        fake = [
            mode.from_tensor(value)
            if isinstance(value, Tensor)
            else [mode.from_tensor(item) if isinstance(item, Tensor) else item for item in value]
            if isinstance(value, list)
            else value
            for value in args
        ]
        outputs = listed(native(operation, fake, dict(kwargs)))
    assert [None if o is None else o.shape for o in outputs] == [None if o is None else o.shape for o in real]


@pytest.mark.usefixtures("everywhere")
def test_arguments_are_not_written_to() -> None:
    for case in CASES:
        _, args, kwargs = case
        tensors = [value for value in args if isinstance(value, Tensor)]
        before = [value.clone() for value in tensors]
        native(operation_of(case), list(args), dict(kwargs))
        assert all(torch.equal(a, b) or a.isnan().any() for a, b in zip(before, tensors, strict=True)), case[0]


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("name", ["reversed", "split", "jitter"])
def test_another_machine_computes_the_pieces_in_its_own_way(name: str) -> None:
    differing = set()
    for case in CASES:
        operation = operation_of(case)
        ours = native(operation, list(case[1]), dict(case[2]))
        theirs = perturb(name)(operation, list(case[1]), dict(case[2]))
        same(ours, theirs)
        if any(a is not None and not torch.equal(a, b) for a, b in zip(listed(ours), listed(theirs), strict=True)):
            differing.add(case[0].split(".")[1])
    if name != "jitter":
        assert {"sum", "mean", "native_layer_norm", "native_batch_norm_backward", "convolution_backward"} <= differing
    else:
        assert {"_softmax", "linalg_vector_norm", "native_layer_norm"} <= differing


def pieces_of(case: Call) -> list[tuple[str, list[Any]]]:
    """The pieces that an operator is computed in; none in the library's own form."""
    pieces = []

    def run(name: str, *args: Any) -> Any:
        pieces.append((name, list(args)))
        return natively(name, *args)

    form = operation_of(case).own_form(list(case[1]), dict(case[2]))
    if form is not None:
        form(run)
    return pieces


def test_short_sums_are_left_to_the_library() -> None:
    assert pieces_of(call("sum.default", t(sums.LONGEST))) == []
    assert pieces_of(call("mm.default", t(2, 300), t(300, 2))) == []
    assert pieces_of(call("linalg_vector_norm.default", t(sums.LONGEST))) == []


def test_no_piece_of_a_long_sum_is_long() -> None:
    n = 1_000_003
    pieces = pieces_of(call("sum.default", torch.ones(n, dtype=torch.float64)))
    lengths = [args[0].shape[args[1][0]] for _, args in pieces]
    assert max(lengths) <= 1024
    assert sum(sorted(lengths)[-2:]) <= sums.axis_terms(n) + 1
    assert sums.axis_terms(n) <= 2001


@pytest.mark.parametrize("n", [1, 2, 127, 128, 129, 1000, 4096, 4097, 65_537, 1_000_003, 123_456_789])
def test_terms_of_an_axis(n: int) -> None:
    block = sums.block_length(n)
    assert block & (block - 1) == 0
    assert block * block >= n > (block // 2) ** 2
    # The last block may be a shorter one, and is one more term of the sum of blocks.
    expected = 0 if n == 1 else n if n <= sums.SHORT else block + math.ceil(n / block)
    assert sums.axis_terms(n) == expected

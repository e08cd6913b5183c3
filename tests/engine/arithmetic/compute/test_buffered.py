"""Results in memory of our own are those of the library, bit for bit; what does not fit is left to it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from counterfoil.arithmetic.compute import buffered
from counterfoil.arithmetic.compute.forms.convolutions import FORMS
from counterfoil.arithmetic.compute.forms.pieces import natively
from counterfoil.kernels import buffers
from counterfoil.operators.signatures import overload
from support.jobs import draw

SHAPE = (512, 300)
A, B = (torch.from_numpy(draw(SHAPE, seed)).double() for seed in (1, 2))
LEFT, RIGHT = (torch.from_numpy(draw(shape, 3)).double() for shape in ((512, 40), (40, 300)))
BATCH, OTHER = LEFT.view(4, 128, 40), torch.from_numpy(draw((4, 40, 300), 4)).double()
ROW = B[0].clone()
CASES: dict[str, tuple[Any, ...]] = {
    "aten.mm.default": (LEFT, RIGHT),
    "aten.addmm.default": (ROW, LEFT, RIGHT),
    "aten.bmm.default": (BATCH, OTHER),
    "aten.baddbmm.default": (A.view(4, 128, 300), BATCH, OTHER),
    "aten.add.Tensor": (A, B),
    "aten.sub.Tensor": (A, ROW),
    "aten.mul.Tensor": (A, B),
    "aten.div.Tensor": (A, B),
    "aten.sqrt.default": (A.abs(),),
    "aten.neg.default": (A,),
    "aten.exp.default": (A,),
    "aten.tanh.default": (A,),
    "aten.sigmoid.default": (A,),
    "aten.rsqrt.default": (A.abs(),),
    "aten.clamp_min.default": (A, 0.25),
    "aten.gelu.default": (A,),
    "aten.gelu_backward.default": (A, B),
    "aten.threshold_backward.default": (A, B, 0),
    "aten.tanh_backward.default": (A, B),
    "aten._softmax.default": (A, -1, False),
    "aten.relu.default": (torch.where(A > 0.5, float("nan"), torch.where(A < -0.5, -0.0, A)),),
}


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[Tensor]:
    """The tensors that were taken from the range."""
    found: list[Tensor] = []
    real = buffers.empty

    def empty(shape: Any, dtype: torch.dtype) -> Tensor:
        found.append(real(shape, dtype))
        return found[-1]

    monkeypatch.setattr(buffers, "empty", empty)
    return found


def same_bits(x: Tensor, y: Tensor) -> bool:
    return x.dtype == y.dtype and torch.equal(x.view(torch.int64), y.view(torch.int64))


def test_no_operator_is_left_out() -> None:
    assert set(CASES) == {*buffered._PRODUCTS, *buffered._ELEMENTWISE, "aten.relu.default"}


@pytest.mark.parametrize("operator", CASES)
def test_the_bits_are_the_librarys(operator: str, taken: list[Tensor]) -> None:
    function, arguments = overload(operator), CASES[operator]
    expected = function(*arguments)
    call = buffered.buffered(operator, function, expected.shape, expected.dtype)
    assert call is not None
    result = call(*arguments)
    assert len(taken) == 1
    assert result.data_ptr() == taken[0].data_ptr()
    assert result.stride() == expected.stride()
    assert same_bits(result, expected)


def test_small_results_and_other_operators_are_the_librarys() -> None:
    add = overload("aten.add.Tensor")
    assert buffered.buffered("aten.add.Tensor", add, (10, 10), torch.float64) is None
    assert buffered.buffered("aten.erf.default", overload("aten.erf.default"), SHAPE, torch.float64) is None


def test_arguments_in_another_order_give_results_in_theirs(taken: list[Tensor]) -> None:
    across = A.t().contiguous().t()
    function = overload("aten.mul.Tensor")
    call = buffered.buffered("aten.mul.Tensor", function, SHAPE, torch.float64)
    assert call is not None
    result = call(across, across)
    assert result.stride() == function(across, across).stride() != A.stride()
    assert not taken


def test_tensors_without_memory_stay_so(taken: list[Tensor]) -> None:
    call = buffered.buffered("aten.mul.Tensor", overload("aten.mul.Tensor"), SHAPE, torch.float64)
    assert call is not None
    with FakeTensorMode() as mode:
        fake = mode.from_tensor(A)
        assert type(call(fake, fake)) is type(fake)
    assert not taken


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("stride", "padding", "bias"), [(1, 1, True), (2, 0, False), (2, 3, True)])
def test_a_convolution_some_samples_at_a_time(
    stride: int, padding: int, bias: bool, threads: int, taken: list[Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buffered, "_UNFOLDED", 1)
    x = torch.from_numpy(draw((7, 3, 50, 52), 5)).double()
    weight, shift = torch.from_numpy(draw((40, 3, 3, 5), 6)).double(), ROW[:40].clone()
    settings = ([stride, stride], [padding, padding], [1, 1], False, [0, 0], 1)
    arguments = (x, weight, shift if bias else None, *settings)
    function = overload("aten.convolution.default")
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        expected = function(*arguments)
        call = buffered.buffered("aten.convolution.default", function, expected.shape, expected.dtype)
        assert call is not None
        result = call(*arguments)
    finally:
        torch.set_num_threads(before)
    assert len(taken) == 1
    assert same_bits(result, expected)


@pytest.mark.parametrize("change", [{"dilation": [2, 2]}, {"groups": 3}, {"transposed": True}])
def test_other_convolutions_are_the_librarys(change: dict[str, Any], taken: list[Tensor]) -> None:
    given = {"dilation": [1, 1], "transposed": False, "groups": 1} | change
    x = torch.from_numpy(draw((7, 3, 50, 52), 5)).double()
    shape = (3, 40, 3, 3) if given["transposed"] else (42, 3 // given["groups"], 3, 3)
    weight = torch.from_numpy(draw(shape, 6)).double()
    arguments = (x, weight, None, [1, 1], [0, 0], given["dilation"], given["transposed"], [0, 0], given["groups"])
    function = overload("aten.convolution.default")
    expected = function(*arguments)
    call = buffered.buffered("aten.convolution.default", function, expected.shape, expected.dtype)
    assert call is not None
    assert torch.equal(call(*arguments), expected)
    assert not taken


def test_the_gradient_of_some_samples_at_a_time(taken: list[Tensor], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffered, "_UNFOLDED", 1)
    x, weight = torch.from_numpy(draw((7, 8, 50, 52), 5)).double(), torch.from_numpy(draw((9, 8, 3, 3), 6)).double()
    g = torch.from_numpy(draw((7, 9, 50, 52), 8)).double()
    settings = {"stride": [1, 1], "padding": [1, 1], "dilation": [1, 1], "transposed": False, "output_padding": [0, 0]}
    given = {"grad_output": g, "input": x, "weight": weight, "bias_sizes": None, **settings, "groups": 1}
    found = FORMS["convolution_backward"](natively, {**given, "output_mask": [True, False, False]})
    library = torch.ops.aten.convolution_backward.default(*given.values(), [True, False, False])
    assert [each is None for each in found] == [False, True, True]
    assert found[0].data_ptr() == taken[0].data_ptr()
    assert same_bits(found[0], library[0])


def test_products_and_combinations(taken: list[Tensor]) -> None:
    assert same_bits(buffered.product("aten.mm.default", LEFT, RIGHT), LEFT @ RIGHT)
    assert same_bits(buffered.product("aten.bmm.default", BATCH, OTHER), BATCH @ OTHER)
    assert same_bits(buffered.combined(torch.sub, A, ROW), A - ROW)
    assert len(taken) == 3
    assert same_bits(buffered.combined(torch.sub, A.t(), B.t()), A.t() - B.t())
    assert same_bits(buffered.product("aten.mm.default", LEFT[:10], RIGHT), LEFT[:10] @ RIGHT)
    assert len(taken) == 3

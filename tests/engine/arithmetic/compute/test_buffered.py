"""Results in memory of our own are those of the library, bit for bit; what does not fit is left to it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from counterfoil_core.arithmetic.families import memoryreuse
from counterfoil_core.kernels import buffers
from counterfoil_core.operators.signatures import overload
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
    assert set(CASES) == {*memoryreuse._PRODUCTS, *memoryreuse._ELEMENTWISE, "aten.relu.default"}


@pytest.mark.parametrize("operator", CASES)
def test_the_bits_are_the_librarys(operator: str, taken: list[Tensor]) -> None:
    function, arguments = overload(operator), CASES[operator]
    expected = function(*arguments)
    call = memoryreuse.into_buffers(operator, function, expected.shape, expected.dtype)
    assert call is not None
    result = call(*arguments)
    assert len(taken) == 1
    assert result.data_ptr() == taken[0].data_ptr()
    assert result.stride() == expected.stride()
    assert same_bits(result, expected)


def test_small_results_and_other_operators_are_the_librarys() -> None:
    add = overload("aten.add.Tensor")
    assert memoryreuse.into_buffers("aten.add.Tensor", add, (10, 10), torch.float64) is None
    assert memoryreuse.into_buffers("aten.erf.default", overload("aten.erf.default"), SHAPE, torch.float64) is None


def test_arguments_in_another_order_give_results_in_theirs(taken: list[Tensor]) -> None:
    across = A.t().contiguous().t()
    function = overload("aten.mul.Tensor")
    call = memoryreuse.into_buffers("aten.mul.Tensor", function, SHAPE, torch.float64)
    assert call is not None
    result = call(across, across)
    assert result.stride() == function(across, across).stride() != A.stride()
    assert not taken


def test_tensors_without_memory_stay_so(taken: list[Tensor]) -> None:
    call = memoryreuse.into_buffers("aten.mul.Tensor", overload("aten.mul.Tensor"), SHAPE, torch.float64)
    assert call is not None
    with FakeTensorMode() as mode:
        fake = mode.from_tensor(A)
        assert type(call(fake, fake)) is type(fake)
    assert not taken


def test_products_and_combinations(taken: list[Tensor]) -> None:
    assert same_bits(memoryreuse.product("aten.mm.default", LEFT, RIGHT), LEFT @ RIGHT)
    assert same_bits(memoryreuse.product("aten.bmm.default", BATCH, OTHER), BATCH @ OTHER)
    assert same_bits(memoryreuse.combine_into(torch.sub, A, ROW), A - ROW)
    assert len(taken) == 3
    assert same_bits(memoryreuse.combine_into(torch.sub, A.t(), B.t()), A.t() - B.t())
    assert same_bits(memoryreuse.product("aten.mm.default", LEFT[:10], RIGHT), LEFT[:10] @ RIGHT)
    assert len(taken) == 3

"""Operators that move, choose or fill values are taken apart at capture: torch's result, one where it has several."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from counterfoil.program.capture import CapturedStep, capture
from counterfoil.program.moves import MOVES
from counterfoil.program.update import Sgd
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.operators.node import TensorType
from support.jobs import draw

Function = Callable[[Tensor], Tensor]


class Applied(nn.Module):
    """A function of a weight; the loss weighs every element differently, so that gradients tell places apart."""

    def __init__(self, function: Function, weight: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight.clone())
        self.function = function
        self.register_buffer("result", torch.zeros_like(function(weight.clone())))

    def forward(self, x: Tensor) -> Tensor:
        y = self.function(self.weight)
        self.result = y.detach()
        weights = torch.arange(y.numel()).reshape(y.shape).remainder(7).to(torch.float32) + 1
        return (y * weights).sum() + self.weight.sum() * 0.5 + x.sum() * 0.0


def captured(function: Function, weight: Tensor) -> CapturedStep:
    model = Applied(function, weight)
    return capture(model, lambda model, batch: model(batch["x"]), Sgd(), {"x": TensorType("float32", (1,))})


def executed(step: CapturedStep) -> tuple[Tensor, Tensor]:
    """The result of the function, and the gradient of the weight."""
    inputs = StepInputs(step.initial_state, {"x": torch.zeros(1)}, {"lr": 1.0}, Draws(0, 1))
    state = Interpreter(step.program, torch.device("cpu")).run(inputs).state
    return state["result"], step.initial_state["weight"].double() - state["weight"].double()


def both(function: Function, weight: Tensor, rtol: float = 0.0) -> None:
    """Compare result and gradient with torch's own."""
    result, gradient = executed(captured(function, weight))
    model = Applied(function, weight)
    model(torch.zeros(1)).backward()
    torch.testing.assert_close(result, model.result.to(result.dtype), rtol=rtol, atol=0.0)
    torch.testing.assert_close(gradient, model.weight.grad.double(), rtol=1e-6, atol=1e-6)


def weight(*shape: int, number: int = 3) -> Tensor:
    return torch.from_numpy(draw(shape, number))


PLACES = torch.tensor([[3, 0, 1], [2, 2, 0]])
MASK = torch.arange(20).reshape(4, 5) % 3 == 0
FUNCTIONS: dict[str, tuple[Function, tuple[int, ...]]] = {
    "fill by a tensor": (lambda w: w * torch.zeros_like(w).fill_(torch.tensor(3.0)), (4, 5)),
    "fill by a value": (lambda w: (w * 2).fill_(w.sum()), (4, 5)),
    "topk": (lambda w: w.topk(3, dim=0)[0], (7, 4)),
    "topk, smallest": (lambda w: w.topk(3, largest=False)[0].view(-1), (4, 7)),
    "topk's places": (lambda w: w.gather(1, w.topk(2)[1]), (4, 7)),
    "sort": (lambda w: w.sort(0)[0], (7, 4)),
    "argsort": (lambda w: w.gather(0, w.argsort(0, descending=True)), (7, 4)),
    "kthvalue": (lambda w: w.kthvalue(3, 0)[0], (7, 4)),
    "median of all": (lambda w: w.median(), (4, 5)),
    "median": (lambda w: w.median(0, keepdim=True)[0], (8, 3)),
    "cummax": (lambda w: w.cummax(0)[0] + w.cummin(1)[0], (9, 11)),
    "scatter": (lambda w: torch.zeros(5, 3).scatter(0, PLACES, w), (2, 3)),
    "scatter of maxima": (lambda w: w.scatter_reduce(0, PLACES, w[:2] * 3, "amax"), (5, 3)),
    "scatter of minima alone": (lambda w: w.scatter_reduce(0, PLACES, w[:2], "amin", include_self=False), (5, 3)),
    "scatter of sums": (lambda w: w.scatter_reduce(0, PLACES, w[:2], "sum", include_self=False), (5, 3)),
    "scatter of means": (lambda w: w.scatter_reduce(0, PLACES, w[:2], "mean", include_self=False), (5, 3)),
    "nan_to_num": (lambda w: torch.where(w > 0, w, torch.nan).nan_to_num(0.25), (4, 5)),
    "infinities": (lambda w: torch.where(w > 0, w, torch.inf).nan_to_num(), (4, 5)),
    "diag_embed": (lambda w: torch.diag_embed(w, 1, 0, 2), (3, 4)),
    "index_fill": (lambda w: w.index_fill(1, torch.tensor([0, -1]), 2.5), (4, 5)),
    "index_copy": (lambda w: w.index_copy(0, torch.tensor([3, 1]), w[:2] * 2), (4, 5)),
    "a write to indices": (lambda w: _written(w, (torch.tensor([0, 3]), torch.tensor([1, -1])), w[0, :2]), (4, 5)),
    "a write to a mask": (lambda w: _written(w, MASK, 7.0), (4, 5)),
    "a write of rows to a mask": (lambda w: _written(w, MASK[:, 0], w[1]), (4, 5)),
    "a write to a mask behind": (lambda w: _written(w, (slice(None), MASK[0]), 2.0), (4, 5)),
    "masked_scatter": (lambda w: w.masked_scatter(MASK, w.flip(0) * 2), (4, 5)),
    "triangles": (lambda w: w[tuple(torch.tril_indices(4, 5, -1))] + w[tuple(torch.triu_indices(4, 5, 2))], (4, 5)),
    "quantile": (lambda w: torch.quantile(w, 0.3, dim=0), (7, 4)),
    "linspace": (lambda w: w * torch.linspace(-1, 2, 5), (4, 5)),
    "windows by strides": (lambda w: w.as_strided((3, 2, 4), (5, 1, 2), 1), (4, 6)),
    "one element by strides": (lambda w: w.as_strided((2, 3), (0, 0), 4) * 1, (4, 5)),
    "strides of a transposed tensor": (lambda w: w.t().contiguous().t().as_strided((2, 3), (3, 4), 1), (4, 5)),
    "a write by strides": (lambda w: _strided(w * 2, w[0, :4]), (4, 6)),
}


def _written(w: Tensor, key: object, value: object) -> Tensor:
    x = w * 2
    x[key] = value  # type: ignore[index]
    return x


def _strided(x: Tensor, value: Tensor) -> Tensor:
    x.as_strided((2, 2), (12, 5), 3).copy_(value.reshape(2, 2))
    return x


@pytest.mark.parametrize("name", FUNCTIONS)
def test_result_and_gradient_are_torchs(name: str) -> None:
    function, shape = FUNCTIONS[name]
    # Between two elements a quantile is computed, by torch in float32.
    both(function, weight(*shape), rtol=1e-6 if name == "quantile" else 0.0)


def places_of(function: Function, row: list[float]) -> list[int]:
    """Places that a function finds in a row, as the interpreter computes them."""
    step = captured(lambda w: function(w).to(torch.float32) + 0 * w.sum(), torch.tensor(row))
    return [int(place) for place in executed(step)[0].reshape(-1)]


TIES = [1.0, 3.0, -0.0, 3.0, 0.0, 3.0, 1.0]


def test_of_equal_elements_the_first_is_chosen() -> None:
    assert places_of(lambda w: w.topk(4)[1], TIES) == [1, 3, 5, 0]
    assert places_of(lambda w: w.topk(3, largest=False)[1], TIES) == [2, 4, 0]
    assert places_of(lambda w: w.argsort(), TIES) == [2, 4, 0, 6, 1, 3, 5]
    assert places_of(lambda w: w.argsort(descending=True), TIES) == [1, 3, 5, 0, 6, 2, 4]
    assert places_of(lambda w: w.kthvalue(4, 0)[1], TIES) == [6]
    assert places_of(lambda w: w.median(0)[1], TIES) == [6]


def test_of_several_values_for_one_place_the_last_stays() -> None:
    index = torch.tensor([2, 0, 2, 1, 0, 2])
    rows = torch.arange(1.0, 7.0)
    for function in (
        lambda w: (w * 0).scatter(0, index, rows),
        lambda w: _written(w * 0, index, rows),
        lambda w: (w * 0).index_copy(0, index, rows),
    ):
        assert executed(captured(function, weight(4)))[0].tolist() == [5, 4, 6, 0]


def test_writes_that_meet_by_strides_are_refused() -> None:
    scatter = MOVES[torch.ops.aten.as_strided_scatter.default]
    with pytest.raises(ProgramError, match="written to one place"):
        scatter(weight(20), weight(3, 4), (3, 4), (2, 1), 0)
    with pytest.raises(ProgramError, match="written to one place"):
        scatter(weight(20), weight(3, 4), (3, 4), (0, 1), 0)


@pytest.mark.parametrize("seed", range(12))
def test_any_strides_inside_are_what_the_library_reads(seed: int) -> None:
    random = np.random.default_rng(seed)
    read, write = (MOVES[getattr(torch.ops.aten, name).default] for name in ("as_strided", "as_strided_scatter"))
    for _ in range(40):
        x = weight(*random.integers(1, 5, 3)).permute(*random.permutation(3).tolist())
        size = random.integers(1, 4, random.integers(1, 4)).tolist()
        stride = random.integers(0, 9, len(size)).tolist()
        reach = sum((n - 1) * s for n, s in zip(size, stride, strict=True))
        if reach >= x.numel():
            continue
        offset = int(random.integers(0, x.numel() - reach))
        assert torch.equal(read(x, size, stride, offset), x.as_strided(size, stride, offset))
        source = weight(*size, number=5)
        try:
            written = write(x, source, size, stride, offset)
        except ProgramError:
            continue
        assert torch.equal(written, torch.as_strided_scatter(x, source, size, stride, offset))

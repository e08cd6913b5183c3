"""What stands in for torch.quantile from torch 2.14 on gives what torch gives, whichever version this is."""

from __future__ import annotations

import pytest
import torch

from counterfoil.program.substitutes.quantiles import quantile

MODES = ("linear", "lower", "higher", "midpoint", "nearest")


@pytest.mark.parametrize("interpolation", MODES)
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [None, 0, 1, -1])
@pytest.mark.parametrize("q", [0.3, 1.0, torch.tensor(0.5), torch.tensor([0.0, 0.3, 0.9])])
def test_it_gives_what_torch_gives(q: float | torch.Tensor, dim: int | None, keepdim: bool, interpolation: str) -> None:
    torch.manual_seed(1)
    values = torch.randn(7, 4, 5)
    theirs = torch.quantile(values, q, dim, keepdim, interpolation=interpolation)
    ours = quantile(input=values, q=q, dim=dim, keepdim=keepdim, interpolation=interpolation)
    assert ours.shape == theirs.shape
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)


def test_what_is_not_a_number_makes_its_row_none() -> None:
    values = torch.tensor([[1.0, torch.nan, 2.0], [3.0, 1.0, 2.0]])
    ours = quantile(values, 0.5, 1)
    assert ours.isnan().tolist() == [True, False]
    assert ours[1] == 2.0


@pytest.mark.parametrize(
    ("values", "q"),
    [(torch.arange(4), 0.5), (torch.ones(4), torch.tensor([[0.5]])), (torch.ones(4), torch.tensor(0.5).double())],
)
def test_what_torch_refuses_is_left_to_it(values: torch.Tensor, q: float | torch.Tensor) -> None:
    assert quantile(values, q) is NotImplemented
    with pytest.raises(RuntimeError):
        torch.quantile(values, q)

"""Rows as fractions of powers of two: in loops and in torch's operators, on every value that a row can have."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import torch
from torch import Tensor

from counterfoil_core.kernels import devices
from counterfoil_core.kernels.exact.quantise import exponents_of, quantise
from counterfoil_core.kernels.exact.rows import row_frexp
from support.jobs import draw

LEAST, LARGEST = 2.0**-149, math.ldexp(2**24 - 1, 104)
ROWS = torch.tensor(
    [
        [1.0, -0.5, 0.0], [-2.0, 1.9999999, 1e-30], [0.0, -0.0, 0.0], [LEAST, 0.0, -LEAST], [3 * LEAST, LEAST, 0.0],
        [2.0**-126, LEAST, -LEAST], [LARGEST, -1.0, LEAST], [-LARGEST, 2.0**-126, 0.0], [1.9999999, 1.0, -1.0],
    ]
)  # fmt: skip


def in_operators(x: Tensor, monkeypatch: pytest.MonkeyPatch) -> tuple[Tensor, Tensor]:
    with monkeypatch.context() as patch:
        patch.setattr(devices, "loops_reach", lambda _device: False)
        return row_frexp(x)


def test_each_row_is_its_fraction_times_its_scale() -> None:
    fractions, scales = row_frexp(ROWS)
    for row, fraction, scale in zip(ROWS.tolist(), fractions.tolist(), scales[:, 0].tolist(), strict=True):
        assert math.frexp(scale)[0] == 0.5
        largest = max(map(abs, row))
        assert scale == LEAST if largest == 0 else scale <= largest < 2 * scale
        for value, part in zip(row, fraction, strict=True):
            exact = Fraction(value) / Fraction(scale)
            assert Fraction(part) == exact or abs(exact) < Fraction(2) ** -126
            assert math.copysign(1.0, part) == math.copysign(1.0, value)


def test_both_forms_give_the_same_bits_in_any_layout_and_on_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    large = torch.from_numpy(draw((700, 301), 2)) * 2.0 ** torch.arange(-149, 551).clamp(max=120)[:, None]
    for x in (ROWS, ROWS.t(), large, large.t(), large.view(7, 100, 301).transpose(0, 1), ROWS[:, :0]):
        expected = in_operators(x, monkeypatch)
        for threads in (1, 3):
            before = torch.get_num_threads()
            torch.set_num_threads(threads)
            try:
                found = row_frexp(x)
            finally:
                torch.set_num_threads(before)
            for mine, theirs in zip(found, expected, strict=True):
                assert torch.equal(mine.contiguous().view(torch.int32), theirs.contiguous().view(torch.int32))


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_a_row_that_is_not_finite_cannot_be_multiplied(value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.tensor([[1.0, value], [1.0, 2.0]])
    for fractions, scales in (row_frexp(x), in_operators(x, monkeypatch)):
        assert scales[:, 0].tolist() == [math.inf, 2.0]
        assert math.isnan(fractions[0, 1])
        assert fractions[1].tolist() == [0.5, 1.0]


def test_a_fraction_has_one_exponent_and_integers_of_its_row_alone() -> None:
    """Control: without the division it has not."""
    for row in ROWS[ROWS.abs().amax(1) > 0]:
        alone, among = row[None], torch.stack([row, torch.full((3,), 7.0)])
        assert exponents_of(row_frexp(alone)[0]).tolist() == [[1]]
        integers = [quantise(row_frexp(x)[0], 8).integers[0] for x in (alone, among)]
        assert torch.equal(*integers)
    small = torch.tensor([[0.01, 0.013]])
    assert not torch.equal(
        quantise(small, 8).values[0], quantise(torch.cat([small, torch.full((1, 2), 7.0)]), 8).values[0]
    )

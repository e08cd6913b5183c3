"""Normal and exponential draws: their definition, decided twice, and their distribution."""

from __future__ import annotations

import math

import pytest
import torch

from counterfoil_core.arithmetic.compute.draws import draw_numbers
from counterfoil_core.kernels.exact import draws
from counterfoil_core.kernels.exact.bracket import bracketed, bracketed_by_torch
from counterfoil_core.kernels.exact.philox import words, words_by_torch
from counterfoil_core.operators.draws.judge import drawn_element
from counterfoil_core.operators.facts import DRAWS, EXPONENTIAL, NORMAL, UNIFORM

KEY = {"seed": 2**63 + 12345, "step": 2**32 - 1, "draw": 7}
EVERY_CORNER = [0, 1, 2**29, 2**30 - 1, 2**30, 2**31 - 1, 2**31, 3 * 2**30 - 1, 3 * 2**30, 2**32 - 2, 2**32 - 1]


def draw(operator: str, *shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return draw_numbers(operator, shape, dtype=dtype, device="cpu", **KEY)


@pytest.mark.parametrize("operator", sorted(DRAWS))
def test_every_element_is_the_defined_one(operator):
    # Across the border of two pieces of 2^16 elements, and to an end within a block.
    x = draw(operator, 70_001)
    chosen = [*range(9), *range(65_530, 65_545), 70_000]
    assert [x[index].item() for index in chosen] == [drawn_element(operator, index, **KEY) for index in chosen]
    assert torch.equal(draw(operator, 70_001, dtype=torch.float32).to(torch.float64), x)
    assert torch.equal(draw(operator, 5, 7).flatten(), x[:35])
    assert draw(operator, 0, 3).shape == (0, 3)


def test_words_at_the_corners_of_a_turn():
    pairs = torch.tensor([[v, w] for v in (0, 2**31, 2**32 - 1) for w in EVERY_CORNER]).flatten()
    expected = [
        draws.normal_of(int(v), int(w), sine=sine) for v, w in pairs.view(-1, 2) for sine in (False, True)
    ]  # fmt: skip
    assert draws.normal(pairs).tolist() == expected
    assert min(map(abs, expected)) > 0
    single = torch.tensor(EVERY_CORNER)
    assert draws.exponential(single).tolist() == [draws.exponential_of(word) for word in EVERY_CORNER]


def test_no_bit_of_the_library_shows():
    """Float64 values that are off by nearly all that is allowed for give the same draw; without a look they do not."""
    some = words(range(1 << 17), device="cpu", **KEY)
    expected, near = draws.normal(some), draws.approximate_normal(some)
    plainly_rounded = []
    for shift in (-15 / 16, 15 / 16):
        moved = near * (1 + shift * draws.ERROR)
        result, doubtful = bracketed(moved, draws.ERROR)
        for index in doubtful.tolist():
            result[index] = draws.normal_of(*some[index // 2 * 2 : index // 2 * 2 + 2].tolist(), sine=index % 2 == 1)
        assert torch.equal(result, expected)
        plainly_rounded.append((near * (1 + shift * 2.0**-40)).to(torch.float32))
    # The control: errors beyond what is allowed for show.
    assert not torch.equal(plainly_rounded[0], plainly_rounded[1])


def test_other_devices_draw_the_same(monkeypatch):
    """What they compute with torch's operators, computed here."""
    blocks = range(2**32 - 3, 2**32 + 5000)
    compiled = words(blocks, device="cpu", **KEY)
    assert torch.equal(words_by_torch(blocks, device="cpu", **KEY), compiled)
    expected = draws.normal(compiled), draws.exponential(compiled)
    monkeypatch.setattr(draws, "bracketed", bracketed_by_torch)
    assert torch.equal(draws.normal(compiled), expected[0])
    assert torch.equal(draws.exponential(compiled), expected[1])


def distance(values: torch.Tensor, share_below) -> float:
    """The largest distance of the values' distribution from a given one, in units of what chance makes of it."""
    ordered = share_below(values.sort().values)
    places = torch.arange(1, len(values) + 1) / len(values)
    return float((ordered - places).abs().max()) * math.sqrt(len(values))


def test_the_distributions_are_those_of_their_names():
    shares = {
        UNIFORM: lambda x: x,
        NORMAL: lambda x: 0.5 * (1 + torch.erf(x / math.sqrt(2))),
        EXPONENTIAL: lambda x: -torch.expm1(-x),
    }
    for operator, share_below in shares.items():
        x = draw(operator, 200_000)
        # Kolmogorov: one in ten thousand honest draws is beyond 2.2.
        assert distance(x, share_below) < 2.2, operator
        assert distance(x * 1.02, share_below) > 2.2, f"the control of {operator}"
        # Neighbours, which Box and Muller make of the same words, have nothing to do with each other.
        one, other = (part - part.mean() for part in (x[::2], x[1::2]))
        assert abs(float(one @ other) / float(one.norm() * other.norm())) < 0.013, operator
        one, other = (part.square() - part.square().mean() for part in (x[::2], x[1::2]))
        assert abs(float(one @ other) / float(one.norm() * other.norm())) < 0.013, operator
    assert draw(NORMAL, 200_000).abs().max() > 4

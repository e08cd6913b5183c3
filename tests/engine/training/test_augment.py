"""Random crops and flips, against plain loops over the images."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from counterfoil.training import images
from counterfoil_core.kernels.exact import philox

COUNT = 400


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> list[Tensor]:
    """The numbers that augmentation draws, in order."""
    drawn: list[Tensor] = []

    def uniform(size: tuple[int, ...]) -> Tensor:
        drawn.append(philox.uniform(size, seed=1, step=1, draw=len(drawn), dtype=torch.float64, device="cpu"))
        return drawn[-1]

    monkeypatch.setattr(images, "uniform", uniform)
    return drawn


def pictures(*shape: int) -> Tensor:
    return torch.arange(COUNT * torch.Size(shape).numel()).reshape(COUNT, *shape) + 1


def windows(given: Tensor, padding: int, draws: list[Tensor]) -> Iterator[Tensor]:
    height, width = given.shape[-2:]
    for image, down, right in zip(given, *draws, strict=True):
        top, left = int(down * (2 * padding + 1)), int(right * (2 * padding + 1))
        padded = functional.pad(image, (padding,) * 4)
        yield padded[..., top : top + height, left : left + width]


@pytest.mark.parametrize("shape", [(5, 7), (1, 6, 6), (3, 7, 5)])
@pytest.mark.parametrize("padding", [1, 4])
def test_a_crop_is_a_window_of_the_padded_image(draws, shape, padding):
    given = pictures(*shape)
    cropped = images.random_crop(given, padding)
    expected = torch.stack(list(windows(given, padding, draws)))
    assert torch.equal(cropped, expected)
    assert not torch.equal(cropped, given)


def test_every_shift_occurs_and_each_axis_has_its_own(draws):
    cropped = images.random_crop(pictures(9, 9), 2)
    assert cropped.shape == (COUNT, 9, 9)
    seen = {tuple((draw * 5).floor().int().tolist()) for draw in torch.stack(draws, 1)}
    assert len(seen) == 25


def test_the_type_of_pixels_stays(draws):
    assert images.random_crop(torch.zeros(2, 3, 4, 4, dtype=torch.uint8), 1).dtype == torch.uint8
    assert images.random_flip(torch.zeros(2, 3, 4, 4, dtype=torch.uint8)).dtype == torch.uint8


def test_about_half_of_the_images_are_mirrored_and_the_others_left_alone(draws):
    given = pictures(3, 4, 5)
    flipped = images.random_flip(given)
    mirrored = draws[0].flatten() < 0.5
    assert 0.4 * COUNT < mirrored.sum() < 0.6 * COUNT
    assert torch.equal(flipped[mirrored], given.flip(-1)[mirrored])
    assert torch.equal(flipped[~mirrored], given[~mirrored])

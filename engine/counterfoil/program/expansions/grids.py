"""Sampling of images and volumes at places that are computed, and the places of an affine map.

A place is one product and one sum, each correctly rounded, so every machine reads the same pixels; weights and what is
made of them are such operations too. Nothing is rounded to the grid but the sums of gradients.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor

from counterfoil.program.remedies import NoFormError

_aten = torch.ops.aten
_BILINEAR, _NEAREST = 0, 1
_ZEROS, _BORDER = 0, 1


def _check_mode(mode: int) -> None:
    if mode not in (_BILINEAR, _NEAREST):
        raise NoFormError(
            "samples a grid with cubic weights, for which there is no definition",
            remedy='Use grid_sample with mode="bilinear" or "nearest".',
        )


def _place(coordinate: Tensor, length: int, padding: int, align: bool) -> tuple[Tensor, Tensor]:
    """Return the place along an axis that a coordinate in -1 to 1 stands for, and its derivative."""
    scale = (length - 1) / 2 if align else length / 2
    place = coordinate * scale + (length - 1) / 2
    slope = torch.full_like(place, scale)
    if padding == _ZEROS:
        return place, slope
    if padding != _BORDER:
        place, sign = _reflected(place, *((0.0, length - 1.0) if align else (-0.5, length - 0.5)))
        slope = slope * sign
    inside = (place > 0) & (place < length - 1)
    return place.clamp(0.0, length - 1.0), torch.where(inside, slope, 0.0)


def _reflected(place: Tensor, low: float, high: float) -> tuple[Tensor, Tensor]:
    """A place reflected at both ends until it lies between them, and the sign of its derivative."""
    span = high - low
    if span == 0:
        return torch.zeros_like(place), torch.zeros_like(place)
    beyond = place - low
    left = torch.fmod(beyond.abs(), 2.0 * span)
    back = left > span
    sign = torch.where(beyond < 0, -1.0, 1.0) * torch.where(back, -1.0, 1.0)
    return torch.where(back, 2.0 * span - left, left) + low, sign


class _Corner:
    """One of the pixels that each place is made from."""

    def __init__(self, image: Tensor, places: Sequence[Tensor]) -> None:
        lengths = image.shape[2:]
        within = [(place >= 0) & (place <= length - 1) for place, length in zip(places, lengths, strict=True)]
        self._inside = within[0]
        for each in within[1:]:
            self._inside = self._inside & each
        index = torch.zeros_like(places[0], dtype=torch.int64)
        for place, length in zip(places, lengths, strict=True):
            index = index * length + place.clamp(0.0, length - 1.0).to(torch.int64)
        self.index = index.flatten(1)
        """int64 ``[N, places]``: flat indices, of a pixel of the image also where the corner lies outside."""

    def read(self, image: Tensor) -> Tensor:
        """``[N, C, *places]``: the pixels; 0 outside."""
        index = self.index.unsqueeze(1).expand(-1, image.shape[1], -1)
        found = image.flatten(2).gather(2, index).view(*image.shape[:2], *self._inside.shape[1:])
        return torch.where(self._inside.unsqueeze(1), found, 0.0)

    def written(self, values: Tensor) -> Tensor:
        """``[N, C, places]``: values for these pixels; 0 outside."""
        return torch.where(self._inside.unsqueeze(1), values, 0.0).flatten(2)


def _corners(image: Tensor, grid: Tensor, mode: int, padding: int, align: bool) -> tuple[Any, Any, Any]:
    """Return the corners by which end of each axis they have, the weights of both ends, and the places' derivatives."""
    axes = image.dim() - 2
    # The last axis of the image has the first coordinate.
    found = [
        _place(grid[..., axes - 1 - axis], image.shape[2 + axis], padding, align) for axis in range(axes)
    ]  # fmt: skip
    places, slopes = [place for place, _ in found], [slope for _, slope in found]
    if mode == _NEAREST:
        return {(0,) * axes: _Corner(image, [torch.round(place) for place in places])}, None, slopes
    low = [torch.floor(place) for place in places]
    ends = [(first, first + 1.0) for first in low]
    weights = [
        (after - place, place - before) for place, (before, after) in zip(places, ends, strict=True)
    ]  # fmt: skip
    corners = {
        chosen: _Corner(image, [ends[axis][end] for axis, end in enumerate(chosen)])
        for chosen in itertools.product((0, 1), repeat=axes)
    }
    return corners, weights, slopes


def _weight(weights: Sequence[tuple[Tensor, Tensor]], chosen: Sequence[int], without: int | None = None) -> Tensor:
    """``[N, 1, *places]``: the product of the weights of a corner's ends, but for one axis."""
    factors = [weights[axis][end] for axis, end in enumerate(chosen) if axis != without]
    product = factors[0]
    for factor in factors[1:]:
        product = product * factor
    return product.unsqueeze(1)


def _sample(image: Tensor, grid: Tensor, mode: int, padding: int, align: bool) -> Tensor:
    _check_mode(mode)
    corners, weights, _ = _corners(image, grid, mode, padding, align)
    parts = [
        corner.read(image) if weights is None else corner.read(image) * _weight(weights, chosen)
        for chosen, corner in corners.items()
    ]
    total: Tensor = sum(parts[1:], parts[0])
    return total


def _sample_backward(
    g: Tensor, image: Tensor, grid: Tensor, mode: int, padding: int, align: bool, output_mask: Sequence[bool]
) -> tuple[Tensor | None, Tensor | None]:
    _check_mode(mode)
    corners, weights, slopes = _corners(image, grid, mode, padding, align)
    of_image = of_grid = None
    if output_mask[0]:
        values = [
            corner.written(g if weights is None else g * _weight(weights, chosen)) for chosen, corner in corners.items()
        ]
        index = torch.cat([corner.index for corner in corners.values()], 1)
        index = index.unsqueeze(1).expand(-1, image.shape[1], -1)
        flat = torch.zeros_like(image).flatten(2).scatter_add(2, index, torch.cat(values, 2))
        of_image = flat.view(image.shape)
    if output_mask[1] and weights is None:
        of_grid = torch.zeros_like(grid)
    elif output_mask[1]:
        axes = image.dim() - 2
        pixels = {chosen: corner.read(image) for chosen, corner in corners.items()}
        parts = []
        for axis in reversed(range(axes)):
            total = torch.zeros_like(g)
            for chosen in itertools.product((0, 1), repeat=axes):
                if chosen[axis]:
                    before = (*chosen[:axis], 0, *chosen[axis + 1 :])
                    total = total + (pixels[chosen] - pixels[before]) * _weight(weights, chosen, axis)
            parts.append((total * g).sum(1) * slopes[axis])
        of_grid = torch.stack(parts, -1)
    return of_image, of_grid


# Affine maps.


def _base(size: Sequence[int], align: bool) -> Tensor:
    """float32 ``[places, axes + 1]``: the place of each pixel in -1 to 1, the last axis first, and a 1."""
    axes = [
        [
            float((Fraction(2 * i, length - 1) - 1) if align else Fraction(2 * i + 1, length) - 1)
            if length > 1
            else 0.0
            for i in range(length)
        ]
        for length in size[2:]
    ]  # fmt: skip
    rows = [[*reversed(place), 1.0] for place in itertools.product(*axes)]
    return torch.tensor(rows, dtype=torch.float32)


def _affine_grid(theta: Tensor, size: Sequence[int], align: bool) -> Tensor:
    base = _base(size, align)
    flat = torch.bmm(base.expand(theta.shape[0], *base.shape), theta.mT)
    return flat.view(theta.shape[0], *size[2:], len(size) - 2)


def _affine_grid_backward(g: Tensor, size: Sequence[int], align: bool) -> Tensor:
    base = _base(size, align)
    flat = g.reshape(size[0], math.prod(size[2:]), len(size) - 2)
    return torch.bmm(flat.mT, base.expand(size[0], *base.shape))


TABLE: Mapping[Any, Callable[..., Any]] = {
    _aten.grid_sampler_2d.default: _sample,
    _aten.grid_sampler_2d_backward.default: _sample_backward,
    _aten.grid_sampler_3d.default: _sample,
    _aten.grid_sampler_3d_backward.default: _sample_backward,
    _aten.affine_grid_generator.default: _affine_grid,
    _aten.affine_grid_generator_backward.default: _affine_grid_backward,
}

"""What recipes on images share: checks of the data, normalisation, and the objective."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.philoxdraws import uniform
from counterfoil_core.base.errors import DataError
from counterfoil_core.operators.node import TensorType

# Random changes to training images, for use inside a step that is being captured. Every random number comes through
# counterfoil.program.philoxdraws.uniform, and every operator copies, compares or selects, so augmentation adds nothing
# to the log.


def random_crop(images: Tensor, padding: int) -> Tensor:
    """Pad each image with zeros on every side, and cut a window of the old size out at a random place.

    Args:
        images: ``[N, H, W]`` or ``[N, C, H, W]``, of any dtype.
        padding: Width of the border; each image is shifted by up to so many pixels either way.

    Returns:
        Images of the same shape and dtype. An image's channels are shifted together.
    """
    count, *channels, height, width = images.shape
    padded = functional.pad(images, (padding, padding, padding, padding))
    places = 2.0 * padding + 1.0
    down = torch.floor(uniform((count,)) * places).to(torch.int64)
    right = torch.floor(uniform((count,)) * places).to(torch.int64)
    each = slice(None)
    among = (None,) * len(channels)
    rows = (torch.arange(height) + down[:, None])[(each, *among, each, None)]
    rows = rows.expand(count, *channels, height, width + 2 * padding)
    columns = (torch.arange(width) + right[:, None])[(each, *among, None, each)].expand(images.shape)
    axis = images.dim() - 2
    return padded.gather(axis, rows).gather(axis + 1, columns)


def random_flip(images: Tensor) -> Tensor:
    """Mirror about half of the images ``[N, ..., W]`` left to right."""
    mirrored = uniform((images.shape[0], *(1 for _ in images.shape[1:]))) < 0.5
    return torch.where(mirrored, images.flip(-1), images)


Pixels = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.int64]
_LEVELS = 256
_BLOCK = 1024
"""Images whose pixels are counted at a time."""


def with_channels(images: Pixels, labels: Labels, classes: int) -> Pixels:
    """Check training images and their labels.

    Args:
        images: uint8 ``[n, H, W]`` or ``[n, C, H, W]``.
        labels: int64 ``[n]``, 0 to ``classes - 1``.
        classes: Number of classes.

    Returns:
        The images as ``[n, C, H, W]``.

    Raises:
        DataError: Images or labels have another shape, dtype or range.
    """
    if images.dtype != np.uint8 or images.ndim not in (3, 4) or 0 in images.shape:
        raise DataError(
            f"The images must be uint8 of shape (n, H, W) or (n, C, H, W), not {images.dtype} of shape {images.shape}."
        )
    if labels.dtype != np.int64 or labels.shape != images.shape[:1]:
        raise DataError(f"There must be one int64 label for each image, not {labels.dtype} of shape {labels.shape}.")
    if classes < 2:
        raise DataError(f"A classifier cannot have {classes} classes.", remedy="Choose 2 or more.")
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high >= classes:
        raise DataError(
            f"The labels are {low} to {high}, which does not fit {classes} classes.",
            remedy="Choose as many classes as the data has; labels count from 0.",
        )
    return images[:, None] if images.ndim == 3 else images


@dataclass(frozen=True)
class Normalisation:
    """Mean and standard deviation of the pixels of each channel, 0 to 255."""

    means: tuple[float, ...]
    deviations: tuple[float, ...]

    @classmethod
    def of(cls, images: Pixels) -> Normalisation:
        """Measure images ``[n, C, H, W]``: integer sums and one correctly rounded root, the same on every machine."""
        means, deviations = [], []
        levels = range(_LEVELS)
        for channel in range(images.shape[1]):
            counts = np.zeros(_LEVELS, np.int64)
            for start in range(0, len(images), _BLOCK):
                counts += np.bincount(images[start : start + _BLOCK, channel].ravel(), minlength=_LEVELS)
            n = int(counts.sum())
            total = sum(level * int(counts[level]) for level in levels)
            squares = sum(level * level * int(counts[level]) for level in levels)
            means.append(total / n)
            # A channel of one colour has no deviation to divide by.
            deviations.append(math.sqrt((squares * n - total * total) / (n * n)) or 1.0)
        return cls(tuple(means), tuple(deviations))

    def __call__(self, images: Tensor) -> Tensor:
        """Map pixels ``[N, C, H, W]`` to floats of mean 0 and deviation 1."""
        pixels = images.to(torch.float32)
        channels = [
            (pixels[:, index : index + 1] - mean) * (1.0 / deviation)
            for index, (mean, deviation) in enumerate(zip(self.means, self.deviations, strict=True))
        ]
        return torch.cat(channels, 1)


@dataclass(frozen=True)
class ImageObjective:
    """Cross entropy on augmented, normalised images; the batch holds ``images`` and ``labels``."""

    normalisation: Normalisation  #: Applied after the augmentation, so that a crop's border is black.
    padding: int  #: Border of the random crop, in pixels; 0 for no crop.
    flip: bool  #: Whether images are mirrored at random.

    def __call__(self, model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the mean loss of the batch."""
        images = batch["images"]
        if self.padding:
            images = random_crop(images, self.padding)
        if self.flip:
            images = random_flip(images)
        return functional.cross_entropy(model(self.normalisation(images)), batch["labels"])


def image_batch(images: Pixels, batch_size: int) -> dict[str, TensorType]:
    """Return the batch inputs of a step on images ``[n, C, H, W]``."""
    return {
        "images": TensorType("uint8", (batch_size, *images.shape[1:])),
        "labels": TensorType("int64", (batch_size,)),
    }


def check_settings(batch_size: int, steps: int, padding: int) -> None:
    """Check the settings of an order on images.

    Args:
        batch_size: Images per step.
        steps: Steps.
        padding: Pixels of border before the random crop.

    Raises:
        DataError: One of them is out of range.
    """
    if batch_size < 1 or steps < 1:
        raise DataError("Training needs at least one step and one image per step.")
    if padding < 0:
        raise DataError(f"A border of {padding} pixels cannot be cropped.", remedy="Choose 0 or more.")

"""Random changes to training images, for use inside a step that is being captured.

Every random number comes through :func:`counterfoil.program.philoxdraws.uniform`, and every operator copies, compares
or selects, so augmentation adds nothing to the log.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from counterfoil.program.philoxdraws import uniform


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

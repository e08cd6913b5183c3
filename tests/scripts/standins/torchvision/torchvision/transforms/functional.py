"""Functions of torchvision.transforms, on PIL images and on tensors."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageEnhance
from torch.nn import functional


class InterpolationMode(Enum):
    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


_PIL = {
    InterpolationMode.NEAREST: Image.Resampling.NEAREST,
    InterpolationMode.BICUBIC: Image.Resampling.BICUBIC,
    InterpolationMode.BOX: Image.Resampling.BOX,
    InterpolationMode.HAMMING: Image.Resampling.HAMMING,
    InterpolationMode.LANCZOS: Image.Resampling.LANCZOS,
}
_pil_interpolation_to_str = {mode: name.value for name, mode in _PIL.items()}


def pair(size: Any) -> tuple[int, int]:
    if isinstance(size, int):
        return size, size
    height, width = size if len(size) == 2 else (size[0], size[0])
    return int(height), int(width)


def get_image_size(image: Any) -> tuple[int, int]:
    """Width and height."""
    return (image.shape[-1], image.shape[-2]) if isinstance(image, torch.Tensor) else image.size


def get_dimensions(image: Any) -> list[int]:
    width, height = get_image_size(image)
    return [image.shape[-3] if isinstance(image, torch.Tensor) else len(image.getbands()), height, width]


def pil_to_tensor(image: Image.Image) -> torch.Tensor:
    array = np.array(image)
    return torch.from_numpy(array[None] if array.ndim == 2 else np.ascontiguousarray(array.transpose(2, 0, 1)))


def to_tensor(image: Any) -> torch.Tensor:
    return pil_to_tensor(image).to(torch.float32) / 255


def normalize(tensor: torch.Tensor, mean: Any, std: Any, inplace: bool = False) -> torch.Tensor:
    middle = torch.as_tensor(mean, dtype=tensor.dtype).view(-1, 1, 1)
    return (tensor if inplace else tensor.clone()).sub_(middle).div_(torch.as_tensor(std).view(-1, 1, 1))


def resize(image: Any, size: Any, interpolation: Any = InterpolationMode.BILINEAR, **_ignored: Any) -> Any:
    width, height = get_image_size(image)
    if isinstance(size, int) or len(size) == 1:
        short = size if isinstance(size, int) else size[0]
        scale = short / min(width, height)
        size = (max(short, int(height * scale)), max(short, int(width * scale)))
    if isinstance(image, torch.Tensor):
        batch = image if image.dim() == 4 else image[None]
        return functional.interpolate(batch.float(), size, mode="bilinear", antialias=True).view(
            *image.shape[:-2], *size
        )
    return image.resize((size[1], size[0]), _PIL.get(interpolation, Image.Resampling.BILINEAR))


def crop(image: Any, top: int, left: int, height: int, width: int) -> Any:
    if isinstance(image, torch.Tensor):
        return image[..., top : top + height, left : left + width]
    return image.crop((left, top, left + width, top + height))


def center_crop(image: Any, size: Any) -> Any:
    high, wide = pair(size)
    width, height = get_image_size(image)
    return crop(image, (height - high) // 2, (width - wide) // 2, high, wide)


def resized_crop(image: Any, top: int, left: int, height: int, width: int, size: Any, *how: Any) -> Any:
    return resize(crop(image, top, left, height, width), pair(size), *how)


def hflip(image: Any) -> Any:
    return image.flip(-1) if isinstance(image, torch.Tensor) else image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)


def pad(image: Any, padding: int, fill: Any = 0, padding_mode: str = "constant") -> Any:
    if isinstance(image, torch.Tensor):
        return functional.pad(image, (padding,) * 4, value=fill)
    array = np.asarray(image)
    around = ((padding, padding), (padding, padding), *((0, 0),) * (array.ndim - 2))
    return Image.fromarray(np.pad(array, around, constant_values=fill))


def to_pil_image(image: Any) -> Any:
    pixels = image.mul(255).byte().numpy().transpose(1, 2, 0)
    return Image.fromarray(np.ascontiguousarray(pixels).squeeze())


def enhance(image: Any, name: str, factor: float) -> Any:
    """Blends with what the factor 0 is: black (Brightness), the mean grey (Contrast), or the greys (Color)."""
    if not isinstance(image, torch.Tensor):
        return getattr(ImageEnhance, name)(image).enhance(factor)
    greys = image.mean(-3, keepdim=True)
    ground = {"Brightness": 0.0, "Contrast": greys.mean((-1, -2), keepdim=True), "Color": greys}[name]
    return (image * factor + ground * (1 - factor)).clamp(0, 1)


def gaussian_blur(image: torch.Tensor, width: int, sigma: float) -> torch.Tensor:
    places = torch.arange(width) - (width - 1) / 2
    row = torch.exp(-(places**2) / (2 * sigma**2))
    kernel = torch.outer(row, row) / row.sum() ** 2
    channels = image.shape[-3]
    weight = kernel.expand(channels, 1, width, width).contiguous()
    return functional.conv2d(image, weight, padding=width // 2, groups=channels)

"""The transforms that scripts use; random ones draw from torch's generator, as torchvision's do."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from torchvision.transforms import functional
from torchvision.transforms.functional import InterpolationMode

__all__ = ["InterpolationMode", "functional"]


class Compose:
    def __init__(self, transforms: list[Callable[[Any], Any]]) -> None:
        self.transforms = transforms

    def __call__(self, image: Any) -> Any:
        for transform in self.transforms:
            image = transform(image)
        return image


class Lambda:
    def __init__(self, lambd: Callable[[Any], Any]) -> None:
        self.lambd = lambd

    def __call__(self, image: Any) -> Any:
        return self.lambd(image)


class ToTensor:
    def __call__(self, image: Any) -> torch.Tensor:
        return functional.to_tensor(image)


class PILToTensor:
    def __call__(self, image: Any) -> torch.Tensor:
        return functional.pil_to_tensor(image)


class ConvertImageDtype:
    def __init__(self, dtype: torch.dtype) -> None:
        self.dtype = dtype

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        return image.to(self.dtype) / (1 if image.is_floating_point() else 255)


class Normalize(nn.Module):
    def __init__(self, mean: Any, std: Any, inplace: bool = False) -> None:
        super().__init__()
        self.mean, self.std, self.inplace = mean, std, inplace

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return functional.normalize(image, self.mean, self.std, self.inplace)


class Resize(nn.Module):
    def __init__(self, size: Any, interpolation: Any = InterpolationMode.BILINEAR, **options: Any) -> None:
        super().__init__()
        self.size, self.interpolation = size, interpolation

    def forward(self, image: Any) -> Any:
        return functional.resize(image, self.size, self.interpolation)


class CenterCrop(nn.Module):
    def __init__(self, size: Any) -> None:
        super().__init__()
        self.size = size

    def forward(self, image: Any) -> Any:
        return functional.center_crop(image, self.size)


class RandomCrop(nn.Module):
    def __init__(self, size: Any, padding: int | None = None, **_options: Any) -> None:
        super().__init__()
        self.size, self.padding = functional.pair(size), padding

    def forward(self, image: Any) -> Any:
        if self.padding is not None:
            image = functional.pad(image, self.padding)
        width, height = functional.get_image_size(image)
        high, wide = self.size
        top = int(torch.randint(0, height - high + 1, (1,)).item())
        left = int(torch.randint(0, width - wide + 1, (1,)).item())
        return functional.crop(image, top, left, high, wide)


class Pad(nn.Module):
    def __init__(self, padding: int) -> None:
        super().__init__()
        self.padding = padding

    def forward(self, image: Any) -> Any:
        return functional.pad(image, self.padding)


class ToPILImage:
    def __call__(self, image: torch.Tensor) -> Any:
        return functional.to_pil_image(image)


class ColorJitter(nn.Module):
    """Brightness, contrast and saturation, each by a factor that is drawn; hues stay."""

    def __init__(self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0) -> None:
        super().__init__()
        self.sizes = {"Brightness": brightness, "Contrast": contrast, "Color": saturation}

    def forward(self, image: Any) -> Any:
        for name, size in self.sizes.items():
            factor = float(torch.empty(1).uniform_(max(0.0, 1 - size), 1 + size))
            image = functional.enhance(image, name, factor)
        return image


class RandomGrayscale(nn.Module):
    def __init__(self, p: float = 0.1) -> None:
        super().__init__()
        self.p = p

    def forward(self, image: Any) -> Any:
        return functional.enhance(image, "Color", 0.0) if torch.rand(1) < self.p else image


class GaussianBlur(nn.Module):
    def __init__(self, kernel_size: Any, sigma: tuple[float, float] = (0.1, 2.0)) -> None:
        super().__init__()
        self.width, self.sigma = functional.pair(kernel_size)[0], sigma

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return functional.gaussian_blur(image, self.width, torch.empty(1).uniform_(*self.sigma).item())


class RandomApply(nn.Module):
    def __init__(self, transforms: list[Callable[[Any], Any]], p: float = 0.5) -> None:
        super().__init__()
        self.transforms, self.p = transforms, p

    def forward(self, image: Any) -> Any:
        if self.p < torch.rand(1):
            return image
        for transform in self.transforms:
            image = transform(image)
        return image


class RandomHorizontalFlip(nn.Module):
    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, image: Any) -> Any:
        return functional.hflip(image) if torch.rand(1) < self.p else image


class RandomResizedCrop(nn.Module):
    def __init__(
        self,
        size: Any,
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3),
        interpolation: Any = InterpolationMode.BILINEAR,
        **_options: Any,
    ) -> None:
        super().__init__()
        self.size, self.scale, self.ratio, self.interpolation = functional.pair(size), scale, ratio, interpolation

    def forward(self, image: Any) -> Any:
        width, height = functional.get_image_size(image)
        for _attempt in range(10):
            area = width * height * torch.empty(1).uniform_(*self.scale).item()
            shape = math.exp(torch.empty(1).uniform_(math.log(self.ratio[0]), math.log(self.ratio[1])).item())
            wide, high = round(math.sqrt(area * shape)), round(math.sqrt(area / shape))
            if 0 < wide <= width and 0 < high <= height:
                top = int(torch.randint(0, height - high + 1, (1,)).item())
                left = int(torch.randint(0, width - wide + 1, (1,)).item())
                return functional.resized_crop(image, top, left, high, wide, self.size, self.interpolation)
        return functional.resize(functional.center_crop(image, min(width, height)), self.size, self.interpolation)


class _NotMade:
    def __init__(self, *_args: Any, **_options: Any) -> None:
        raise NotImplementedError(f"the stand-in makes no {type(self).__name__}")


class AutoAugmentPolicy:
    IMAGENET = "imagenet"


class RandomErasing(_NotMade):
    pass


class AutoAugment(_NotMade):
    pass


class RandAugment(_NotMade):
    pass


class TrivialAugmentWide(_NotMade):
    pass


class AugMix(_NotMade):
    pass


class Grayscale(_NotMade):
    pass


class RandomVerticalFlip(_NotMade):
    pass


class RandomRotation(_NotMade):
    pass


class RandomChoice(_NotMade):
    pass

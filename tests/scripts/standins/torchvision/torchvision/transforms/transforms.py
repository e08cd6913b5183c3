"""The transforms under the name of the module that defines them in torchvision."""

from torchvision.transforms import Compose, Normalize, Resize, ToPILImage, ToTensor

__all__ = ["Compose", "Normalize", "Resize", "ToPILImage", "ToTensor"]

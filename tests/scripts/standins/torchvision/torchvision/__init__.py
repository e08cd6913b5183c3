"""Stands for torchvision where it cannot be installed: images are generated, and models have random weights."""

from torchvision import datasets, io, models, ops, transforms, utils

__version__ = "0.20.0"
__all__ = ["datasets", "io", "models", "ops", "transforms", "utils"]


def set_image_backend(name: str) -> None:
    """Images are read by PIL, whatever is asked for."""

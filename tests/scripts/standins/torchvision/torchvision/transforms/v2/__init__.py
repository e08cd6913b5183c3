"""What is imported from the second version of the transforms by name."""

from torchvision.transforms import *  # noqa: F403
from torchvision.transforms import functional

__all__ = ["functional"]

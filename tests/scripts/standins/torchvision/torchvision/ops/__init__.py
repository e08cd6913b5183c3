"""What is imported from torchvision.ops by name."""

from torchvision.ops import misc

__all__ = ["misc"]

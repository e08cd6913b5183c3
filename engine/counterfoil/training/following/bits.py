"""Equality of tensors to the last bit, where numbers that are none are equal to themselves."""

from __future__ import annotations

import torch
from torch import Tensor


def same_bits(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors of one dtype hold the same, bit for bit.

    Args:
        one: A dense tensor.
        other: Likewise.
    """
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    with torch.no_grad():
        one, other = (item.detach().contiguous().reshape(-1).view(torch.uint8) for item in (one, other))
        return torch.equal(one, other)

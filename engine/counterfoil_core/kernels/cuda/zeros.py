"""Zeros for kernels that add to them or raise them, cut from pieces that one launch clears for a hundred uses."""

from __future__ import annotations

import torch
from torch import Tensor

_PIECE = 1 << 13
"""64-bit numbers of a piece; what asks for more has its own."""
_ALIGNED = 2
"""Each use begins at a multiple of 16 bytes: Triton compiles a kernel anew for what does not."""
_pieces: dict[tuple[torch.device, torch.dtype], tuple[Tensor, int]] = {}
"""What is left, and where it begins. Nothing is handed out twice: a piece lives while one of its parts does."""


def zeros(count: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return zeros, ``[count]``, that nobody else has.

    Args:
        count: How many.
        dtype: int32 or int64.
        device: Where.
    """
    if count > _PIECE // 4:
        return torch.zeros(count, dtype=dtype, device=device)
    piece, start = _pieces.get((device, dtype), (None, _PIECE))
    if piece is None or start + count > _PIECE:
        piece, start = torch.zeros(_PIECE, dtype=dtype, device=device), 0
    step = _ALIGNED * 8 // dtype.itemsize
    _pieces[device, dtype] = piece, start + -(-count // step) * step
    return piece[start : start + count]

"""Groups of rows: how many a group has is a value, and so is where it ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from counterfoil.program.substitutes.assumptions import hold


def _grouped_mm(
    mat_a: Tensor, mat_b: Tensor, offs: Tensor | None = None, bias: Tensor | None = None, out_dtype: Any = None
) -> Any:
    """Every row by every matrix, and the one of its group is kept; rows behind the last group are zeros."""
    if mat_a.dim() != 2 or mat_b.dim() != 3 or offs is None or bias is not None:
        return NotImplemented
    rows = torch.arange(mat_a.shape[0])[:, None]
    result = mat_a.new_zeros((mat_a.shape[0], mat_b.shape[-1]))
    for group in range(mat_b.shape[0]):
        inside = rows < offs[group]
        if group:
            inside = inside & (rows >= offs[group - 1])
        result = torch.where(inside, mat_a @ mat_b[group], result)
    return result


def _histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    """How often each whole number occurs, where there is a bin for each; other numbers are not counted."""
    if bins != max - min + 1 or not float(min).is_integer():
        return NotImplemented
    rows = input.reshape(-1)
    hold(rows == rows.floor())
    numbers = torch.arange(bins) + int(min)
    return (rows == numbers[:, None]).sum(1).to(input.dtype)


TABLE: Mapping[Any, Any] = {
    torch._grouped_mm: _grouped_mm,
    torch.histc: _histc,
    Tensor.histc: _histc,
}

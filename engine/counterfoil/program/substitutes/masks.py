"""Writes to the places of a mask: of which there are as many as there are places, and nobody knows how many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from counterfoil.program.moves import masked


def _write(x: Tensor, key: Any, value: Any) -> Any:
    """``x[..., mask] = value`` with one value for all places."""
    keys = key if isinstance(key, tuple) else (key,)
    chosen = [(position, item) for position, item in enumerate(keys) if isinstance(item, Tensor)]
    if (
        len(chosen) != 1
        or chosen[0][1].dtype is not torch.bool
        or any(item != slice(None) for item in keys if not isinstance(item, Tensor))
    ):
        return NotImplemented
    value = value if isinstance(value, Tensor) else torch.full((), value, dtype=x.dtype)
    found = masked(x, *chosen[0], value)
    if found is NotImplemented:
        return NotImplemented
    x.copy_(found)
    return None


TABLE: Mapping[Any, Any] = {Tensor.__setitem__: _write}

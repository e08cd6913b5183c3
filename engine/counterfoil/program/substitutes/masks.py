"""Places that a mask chooses: how many there are is told by values alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from counterfoil.program.moves import assign_masked
from counterfoil.program.substitutes.assumptions import knows
from counterfoil_core.base.errors import ProgramError


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
    found = assign_masked(x, *chosen[0], value)
    if found is NotImplemented:
        return NotImplemented
    x.copy_(found)
    return None


_SELECTED = "_counterfoil_selected"
"""Attribute of what stands for the elements that a mask selects: the rows and the mask."""


def _select(x: Tensor, mask: Tensor) -> Any:
    """What ``masked_select`` gives of a mask that is not known: something that CTC alone can read."""
    if knows(mask) or x.dim() != 2 or x.shape != mask.shape:
        return NotImplemented
    found = x.reshape(-1)
    setattr(found, _SELECTED, (x, mask))
    return found


def select_rows(targets: Tensor) -> Tensor | None:
    """The rows of what was selected by a mask, what it chose in front; None for other tensors."""
    rows, mask = getattr(targets, _SELECTED, (None, None))
    if rows is None or mask is None:
        return None
    order = mask.logical_not().to(torch.int64).sort(dim=1, stable=True)[1]
    return rows.gather(1, order)  # type: ignore[no-any-return]


def check_selected(func: Any, args: tuple[Any, ...]) -> None:
    """Raise where something else reads what was selected.

    Raises:
        ProgramError: It does.
    """
    name = getattr(func, "__name__", str(func))
    if name != "__get__" and any(getattr(item, _SELECTED, None) is not None for item in args):
        raise ProgramError(
            f"The elements that a mask selects are used by {name}, and how many there are is told by values alone.",
            remedy="Keep the shape fixed: weigh by the mask, or choose with torch.where, instead of picking elements.",
        )


TABLE: Mapping[Any, Any] = {
    Tensor.__setitem__: _write,
    Tensor.masked_select: _select,
    torch.masked_select: _select,
}

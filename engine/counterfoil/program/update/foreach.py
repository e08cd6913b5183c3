"""Operators of torch on lists of tensors (``torch._foreach_add`` and its kin) as operators on one after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload

_PREFIX = "aten::_foreach_"
_BY_NAME = frozenset({"addcdiv", "addcdiv_", "addcmul", "addcmul_"})
"""What takes its number by name."""
_OTHERS: Mapping[str, Callable[..., Tensor]] = {
    "norm": torch.linalg.vector_norm,
    "max": Tensor.max,
    "maximum_": Tensor.clamp_min_,
    "minimum_": Tensor.clamp_max_,
}
"""What has another name on one tensor."""


def each(func: OpOverload, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Tensor] | None:
    """Do to each tensor of a list what an operator does to the list."""
    name = func._schema.name.removeprefix(_PREFIX)
    one = _OTHERS.get(name) or getattr(Tensor, name)
    length = next(len(item) for item in (*args, *kwargs.values()) if isinstance(item, (list, tuple)))

    def own(item: Any, place: int) -> Any:
        return item[place] if isinstance(item, (list, tuple)) else item

    made = []
    for place in range(length):
        given = [own(item, place) for item in args]
        named = {key: own(item, place) for key, item in kwargs.items() if key not in ("dtype", "non_blocking") or item}
        if name in _BY_NAME and len(given) == 4:
            named["value"] = given.pop()
        elif name in _BY_NAME and "scalars" in named:
            named["value"] = named.pop("scalars")
        made.append(torch.pow(*given) if name == "pow" else one(*given, **named))
    return made if func._schema.returns else None

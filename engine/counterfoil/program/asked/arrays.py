"""Placeholders as an array of numpy: what is computed of them are placeholders again, comparisons too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from counterfoil.program.asked.numbers import Asked, Kind, current, is_asked, placeholder_at
from counterfoil.program.remedies import NoFormError

_TRUTHS = {np.isnan, np.isinf, np.isfinite}
"""What numpy does not ask of objects."""
_MOST_ELEMENTS = 2**20


class AskedArray(np.ndarray[Any, Any]):
    """An array of placeholders."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **settings: Any) -> Any:
        """Compute element by element, and keep truth values as placeholders."""
        plain = [_objects(item) for item in inputs]
        if "out" in settings:
            settings["out"] = tuple(_objects(item) for item in settings["out"])
        if ufunc in _TRUTHS:
            return _wrapped(
                np.frompyfunc(lambda item: item.made(bool) if is_asked(item) else ufunc(item), 1, 1)(*plain)
            )
        if method == "__call__" and ufunc.types and any(kind.endswith("?") for kind in ufunc.types):
            settings["dtype"] = object
        return _wrapped(getattr(ufunc, method)(*plain, **settings))

    def astype(self, *_: Any, **__: Any) -> AskedArray:
        """The same: a placeholder has no dtype."""
        return self.copy()

    def argmax(self, axis: int | None = None, *_: Any, **__: Any) -> Any:  # type: ignore[override]
        """The places of the largest elements, which nobody knows."""
        first = self.reshape(-1)[0]
        shape = list(self.shape)
        if axis is None or len(shape) == 1:
            return first.made(int)
        shape.pop(axis)
        return fill(shape, int, first)

    def argmin(self, axis: int | None = None, *_: Any, **__: Any) -> Any:  # type: ignore[override]
        """As for the largest."""
        return self.argmax(axis)

    def __float__(self) -> Any:
        """That of its only element."""
        return float(self.item())

    def __int__(self) -> Any:
        """That of its only element."""
        return int(self.item())


def fill(shape: Sequence[int], kind: Kind, like: Asked | None = None) -> AskedArray:
    """Return an array of placeholders, all asked for here, or where another was.

    Raises:
        NoFormError: It would be a large one.
    """
    item = placeholder_at(kind) if like is None else like.made(kind)
    if math.prod(shape) > _MOST_ELEMENTS:
        error = NoFormError(
            f"hands {math.prod(shape):,} values of a tensor to numpy while it is captured, and has none",
            remedy="Compute with tensors, or hand the objective the objects that it needs without numpy.",
        )
        asker = current.get()
        raise error if asker is None else asker.refuse(error)
    array = np.empty(tuple(shape), object)
    array.fill(item)
    return array.view(AskedArray)


def _objects(item: Any) -> Any:
    return item.view(np.ndarray) if isinstance(item, AskedArray) else item


def _wrapped(result: Any) -> Any:
    return result.view(AskedArray) if isinstance(result, np.ndarray) and result.dtype == object else result

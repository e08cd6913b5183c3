"""What an entry of the table of public models is: how it is made, and what is expected of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

Array = NDArray[Any]
KINDS = ("float64-24", "exact-20")
"""The profiles that stand for the two kinds: rounding and exact."""


@dataclass(frozen=True)
class Made:
    """A model as its library makes it, its loss, and a handful of rows."""

    model: nn.Module
    objective: Callable[[nn.Module, Mapping[str, Tensor]], Tensor]
    data: Mapping[str, Array]


@dataclass(frozen=True)
class Entry:
    """A public architecture or loss on its library's default settings.

    Attributes:
        name: Its name.
        library: The module that has to be installed.
        make: Makes it, in training mode, at a tiny size.
        refused: By profile, a part of the sentence by which it is refused; VERIFIED where there is none.
        why: Why it is refused, and what to do, for the page.
    """

    name: str
    library: str
    make: Callable[[], Made]
    refused: Mapping[str, str] = field(default_factory=dict)
    why: str = ""


def tokens(rows: int, length: int, vocabulary: int, seed: int = 0) -> Array:
    """Token numbers, int64 ``[rows, length]``, none of them among the first three, which are often special."""
    return np.random.default_rng(seed).integers(3, vocabulary, (rows, length))


def normal(*shape: int, seed: int = 0) -> Array:
    """float32 numbers of a normal distribution."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def classes(rows: int, count: int, seed: int = 0) -> Array:
    """Labels, int64 ``[rows]``."""
    return np.random.default_rng(seed).integers(0, count, rows)

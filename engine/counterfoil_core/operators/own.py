"""The operators of our own, declared to torch: the draws, and the scale of a row.

Draws are the only sources of randomness in a program. Their numbers come from Philox4x32-10, keyed by the order's seed,
the step and the draw number (:mod:`counterfoil_core.arithmetic.compute.draws`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from counterfoil_core.operators.facts import DRAWS, ROW_SCALE

_LIBRARY = torch.library.Library("counterfoil", "DEF")  # type: ignore[no-untyped-call]


def _fake_draw(size: Sequence[int], draw: int) -> Tensor:
    return torch.empty(list(size), dtype=torch.float32)


def _fake_scale(x: Tensor) -> Tensor:
    return x.new_empty((*x.shape[:-1], 1))


def _declare(name: str, signature: str, fake: Callable[..., Tensor]) -> None:
    kind = name.split(".")[1]
    _LIBRARY.define(f"{kind}({signature}) -> Tensor")  # type: ignore[no-untyped-call]
    torch.library.register_fake(f"counterfoil::{kind}", fake, lib=_LIBRARY)


for _name in sorted(DRAWS):
    _declare(_name, "int[] size, int draw", _fake_draw)
_declare(ROW_SCALE, "Tensor self", _fake_scale)

"""The operators that draw, declared to torch: the only sources of randomness in a program.

Their numbers come from Philox4x32-10, keyed by the order's seed, the step and the draw number
(:mod:`counterfoil_core.arithmetic.compute.draws`).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from counterfoil_core.operators.facts import DRAWS

_LIBRARY = torch.library.Library("counterfoil", "DEF")  # type: ignore[no-untyped-call]


def _fake(size: Sequence[int], draw: int) -> torch.Tensor:
    return torch.empty(list(size), dtype=torch.float32)


for _name in sorted(DRAWS):
    _LIBRARY.define(f"{_name.partition('.')[2]}(int[] size, int draw) -> Tensor")  # type: ignore[no-untyped-call]
    torch.library.register_fake(_name.replace(".", "::"), _fake, lib=_LIBRARY)

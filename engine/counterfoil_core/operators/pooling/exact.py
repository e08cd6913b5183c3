"""Gradients of maxima over windows by the definition of the exact profiles."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.sums import total_by_place
from counterfoil_core.operators.exact import Arguments, Rule


def _max_pool_backward(axes: int) -> Rule:
    """Each gradient goes to the place in its plane that the maximum was taken from."""

    def compute(arguments: Arguments, profile: Profile) -> Tensor:
        x, g, indices = arguments["self"], arguments["grad_output"], arguments["indices"]
        area, met = math.prod(x.shape[-axes:]), math.prod(g.shape[-axes:])
        planes = x.numel() // max(area, 1)
        offsets = torch.arange(planes, device=g.device)[:, None] * area
        places = indices.reshape(planes, met) + offsets
        return total_by_place(g.reshape(-1), places.reshape(-1), x.numel(), met).view(x.shape)

    return compute


SINGLES: Mapping[str, Rule] = {
    "max_pool2d_with_indices_backward": _max_pool_backward(2),
    "adaptive_max_pool2d_backward": _max_pool_backward(2),
    "max_pool3d_with_indices_backward": _max_pool_backward(3),
}
"""By operator kind."""

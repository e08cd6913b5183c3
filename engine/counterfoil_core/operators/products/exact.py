"""Products of matrices and vectors by the definition of the exact profiles."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from counterfoil_core.kernels.exact import products
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.operators.exact import Arguments, Rule


def _mm(arguments: Arguments, profile: Profile) -> Tensor:
    return products.matmul(arguments["self"], arguments["mat2"], profile.bits, profile.matrices)


def _bmm(arguments: Arguments, profile: Profile) -> Tensor:
    return products.matmul(arguments["self"], arguments["mat2"], profile.bits, profile.batches)


def _mv(arguments: Arguments, profile: Profile) -> Tensor:
    return products.matmul(arguments["self"], arguments["vec"][:, None], profile.bits, profile.matrices)[:, 0]


def _dot(arguments: Arguments, profile: Profile) -> Tensor:
    x, y = arguments["self"], arguments["tensor"]
    return products.matmul(x[None], y[:, None], profile.bits, profile.matrices)[0, 0]


SINGLES: Mapping[str, Rule] = {"mm": _mm, "bmm": _bmm, "mv": _mv, "dot": _dot}
"""By operator kind."""

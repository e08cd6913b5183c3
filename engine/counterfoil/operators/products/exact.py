"""Products of matrices and vectors by the definition of the exact profiles."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from counterfoil.kernels.exact import products
from counterfoil.kernels.exact.forms import Profile
from counterfoil.operators import sums
from counterfoil.operators.exact import Arguments, Single


def _mm(arguments: Arguments, profile: Profile) -> Tensor:
    return products.matmul(arguments["self"], arguments["mat2"], profile.bits, profile.matrices)


def _bmm(arguments: Arguments, profile: Profile) -> Tensor:
    return products.matmul(arguments["self"], arguments["mat2"], profile.bits, profile.batches)


def _mv(arguments: Arguments, profile: Profile) -> Tensor:
    return products.matmul(arguments["self"], arguments["vec"][:, None], profile.bits, profile.matrices)[:, 0]


def _dot(arguments: Arguments, profile: Profile) -> Tensor:
    x, y = arguments["self"], arguments["tensor"]
    return products.matmul(x[None], y[:, None], profile.bits, profile.matrices)[0, 0]


def _inner(arguments: Arguments) -> tuple[int]:
    return (sums.inner_length(arguments),)


SINGLES: Mapping[str, Single] = {
    kind: Single(compute, products=_inner) for kind, compute in {"mm": _mm, "bmm": _bmm, "mv": _mv, "dot": _dot}.items()
}

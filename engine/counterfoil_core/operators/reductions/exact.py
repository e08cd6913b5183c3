"""Sums over axes by the definition of the exact profiles."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.sums import running_total, total
from counterfoil_core.operators.exact import Arguments, Rule


def _sum(arguments: Arguments, profile: Profile) -> Tensor:
    axes = arguments.get("dim")
    # Of no axes, torch sums all; a tensor without any lets them be named.
    axes = axes if arguments["self"].dim() else None
    return total(arguments["self"], axes or None, keepdim=arguments.get("keepdim", False))


def _cumsum(arguments: Arguments, profile: Profile) -> Tensor:
    x = arguments["self"]
    return running_total(x, arguments["dim"]) if x.dim() else total(x)


SINGLES: Mapping[str, Rule] = {"sum": _sum, "cumsum": _cumsum}
"""By operator kind."""

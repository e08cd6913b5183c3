"""Elementwise operators by the definitions of the exact profiles: quotients, and the functions of one number."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from counterfoil.kernels.exact import elementwise, functions
from counterfoil.kernels.exact.forms import Profile
from counterfoil.operators.exact import Arguments, Rule, Single


def _divide(arguments: Arguments, profile: Profile) -> Tensor:
    return elementwise.divide(arguments["self"], arguments["other"])


def _function(kind: str) -> Rule:
    names = functions.operand_names(kind)
    return lambda arguments, profile: functions.evaluate(kind, *(arguments[name] for name in names))


SINGLES: Mapping[str, Single] = {
    "div": Single(_divide),
    **{kind: Single(_function(kind)) for kind in functions.FUNCTIONS},
}

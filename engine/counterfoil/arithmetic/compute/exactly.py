"""Computes the operators of exact profiles by their definitions (``docs/numerics.md``, "Exact profiles")."""

from __future__ import annotations

from typing import Any

from counterfoil.arithmetic.compute.operation import Compute, Operation, native
from counterfoil.arithmetic.exact.operators import SINGLES
from counterfoil.base.errors import NonFiniteError, ProgramError
from counterfoil.base.sentence import say
from counterfoil.kernels.exact.forms import Profile
from counterfoil.operators.facts import OperatorClass
from counterfoil.operators.pointwise.exact import OF_NUMBERS


def exactly(profile: Profile) -> Compute:
    """Return what computes operators under an exact profile, in the forms of products that it names.

    Args:
        profile: The profile, and the forms that this machine computes rightly.
    """

    def compute(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        node = operation.node
        if node.entry.operator_class is not OperatorClass.ROUNDED:
            of_numbers = OF_NUMBERS.get(node.entry.kind)
            output = node.outputs[0]
            if of_numbers is None or output is None or not output.floating:
                return native(operation, args, kwargs)
            return of_numbers(operation.named(args, kwargs))
        rule = SINGLES.get(node.entry.kind)
        if rule is None:
            # Such a program is refused where it is read.
            raise ProgramError(say("The operator {0} has no exact result.", node.where))
        try:
            return rule(operation.named(args, kwargs), profile)
        except NonFiniteError as error:
            raise NonFiniteError(say("{0} ({1})", error.sentence, node.where), remedy=error.remedy) from error

    return compute

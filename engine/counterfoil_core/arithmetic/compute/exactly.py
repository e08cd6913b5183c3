"""Computes the operators of exact profiles by their definitions (``docs/numerics.md``, "Exact profiles")."""

from __future__ import annotations

from functools import partial
from typing import Any

from counterfoil_core.arithmetic.compute.exact_elementwise import Computed, elementwise_of
from counterfoil_core.arithmetic.compute.operation import Compute, Operation, native
from counterfoil_core.arithmetic.families.pointwise import OF_NUMBERS
from counterfoil_core.arithmetic.families.table import DEFINITIONS
from counterfoil_core.base.errors import NonFiniteError, ProgramError
from counterfoil_core.base.sentence import say
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.operators.facts import OperatorClass


def exactly(profile: Profile) -> Compute:
    """Return what computes operators under an exact profile, in the forms of products that it names.

    Args:
        profile: The profile, and the forms that this machine computes rightly.
    """
    plans: dict[int, tuple[Operation, Computed]] = {}
    """What computes each operator, by its place in memory, which stays its own while it is kept here."""

    def compute(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        plan = plans.get(id(operation))
        if plan is None or plan[0] is not operation:
            plan = plans[id(operation)] = operation, _planned(operation, profile)
        return plan[1](args, kwargs)

    return compute


def _planned(operation: Operation, profile: Profile) -> Computed:
    """Return what computes an operator by its definition."""
    node = operation.node
    if node.entry.operator_class is not OperatorClass.ROUNDED:
        of_numbers = OF_NUMBERS.get(node.entry.kind)
        output = node.outputs[0]
        if of_numbers is None or output is None or not output.floating:
            return partial(native, operation)
        return elementwise_of(operation, lambda args, kwargs: of_numbers(operation.named(args, kwargs)))
    rule = DEFINITIONS.get(node.entry.kind)
    if rule is None:
        # Such a program is refused where it is read.
        raise ProgramError(say("The operator {0} has no exact result.", node.where))

    def by_rule(args: list[Any], kwargs: dict[str, Any]) -> Any:
        try:
            return rule(operation.named(args, kwargs), profile)
        except NonFiniteError as error:
            raise NonFiniteError(say("{0} ({1})", error.sentence, node.where), remedy=error.remedy) from error

    return elementwise_of(operation, by_rule) if node.entry.kind == "div" else by_rule

"""Computes the operators of exact profiles by their definitions (``docs/numerics.md``, "Exact profiles")."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.operation import Compute, Operation, native
from counterfoil_core.arithmetic.families.pointwise import OF_NUMBERS
from counterfoil_core.arithmetic.families.table import DEFINITIONS
from counterfoil_core.base.errors import NonFiniteError, ProgramError
from counterfoil_core.base.sentence import say
from counterfoil_core.kernels import buffers
from counterfoil_core.kernels.exact import elementwise
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.operators.facts import OperatorClass

# Elementwise operators of an exact profile, with everything settled that follows from the program. What
# counterfoil_core.arithmetic.families.pointwise.OF_NUMBERS and the division beside it compute, by the same operations
# of counterfoil_core.kernels.exact.elementwise: numbers of the program become tensors once, and where an operand is
# looked for and what shape the result has is known before. A small step consists of hundreds of these.

Computed = Callable[[list[Any], dict[str, Any]], Any]
"""Computes an operator from its arguments by position and by name."""

_FUNCTIONS: Mapping[tuple[str, int], tuple[Callable[..., Tensor], bool]] = {
    ("add", 1): (torch.add, False),
    ("add", -1): (torch.sub, False),
    ("sub", 1): (torch.sub, False),
    ("sub", -1): (torch.add, False),
    ("rsub", 1): (torch.sub, True),
    ("rsub", -1): (torch.add, True),
    ("mul", 1): (torch.mul, False),
    ("div", 1): (torch.div, False),
}
"""By kind and alpha: the operation, and whether the second operand comes first."""


def elementwise_of(operation: Operation, generally: Computed) -> Computed:
    """Return what computes an elementwise operator.

    Args:
        operation: The operator.
        generally: Computes it whatever its operands are: where they lie on a device, are no float32 numbers, or are of
            shapes that are put together.
    """
    node = operation.node
    output = node.outputs[0]
    named = operation.named(list(node.args), dict(node.kwargs))
    settled = _FUNCTIONS.get((node.entry.kind, named.get("alpha", 1)))
    ordinary = len(node.args) == 2 and len(node.outputs) == 1 and set(dict(node.kwargs)) <= {"alpha"}
    if settled is None or output is None or not ordinary:
        return generally
    function, exchanged = settled
    (one, one_number), (other, other_number) = ((given, _number(given)) for given in node.args[:2])
    shape = torch.Size(output.shape)
    empty = buffers.empty if buffers.is_large(shape, torch.float32) else torch.empty

    def compute(args: list[Any], kwargs: dict[str, Any]) -> Any:
        first, second = args[0], args[1]
        # By identity: zeros of both signs are equal.
        if one_number is not None and first is one:
            first = one_number
        if other_number is not None and second is other:
            second = other_number
        if not (_is_plain(first, shape) and _is_plain(second, shape)) or (
            first.shape != shape and second.shape != shape
        ):
            return generally(args, kwargs)
        if exchanged:
            first, second = second, first
        return function(first, second, out=empty(shape, dtype=torch.float32))

    return compute


def _number(value: Any) -> Tensor | None:
    """A number of the program as a tensor on the CPU; None where it is no number."""
    return elementwise.number(value, torch.device("cpu")) if isinstance(value, (int, float)) else None


def _is_plain(operand: Any, shape: torch.Size) -> bool:
    """Whether an operand is float32, on the CPU, in order, and of the shape of the result or of a single number."""
    return (
        isinstance(operand, Tensor)
        and operand.dtype is torch.float32
        and (operand.shape == shape or not operand.shape)
        and operand.is_cpu
        and operand.is_contiguous()
    )


@dataclass(frozen=True)
class _Exactly:
    """What :func:`exactly` returns: two of one profile compute alike, and are equal."""

    profile: Profile
    #: What computes each operator, by its place in memory, which stays its own while it is kept here.
    plans: dict[int, tuple[Operation, Computed]] = field(default_factory=dict, compare=False, repr=False)

    def __call__(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        plan = self.plans.get(id(operation))
        if plan is None or plan[0] is not operation:
            plan = self.plans[id(operation)] = operation, _planned(operation, self.profile)
        return plan[1](args, kwargs)


def exactly(profile: Profile) -> Compute:
    """Return what computes operators under an exact profile, in the forms of products that it names.

    Args:
        profile: The profile, and the forms that this machine computes rightly.
    """
    return _Exactly(profile)


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

"""Imitates other hardware under an exact profile, where nothing of it may show.

Each operator is computed in another way than the machine does: products and sums of quantised operands in float64 in
another order, in parts, or by the other algorithms of :mod:`counterfoil_core.arithmetic.otherwise.rewriting`; products
also in another form (int8 or float32 digits); functions with all of the error that is allowed for; elementwise
operations in float64. By ``docs/proofs.md``, "One rounding" and "Functions", each gives the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.exactly import exactly
from counterfoil_core.arithmetic.compute.operation import Compute, Operation
from counterfoil_core.arithmetic.families.table import DEFINITIONS
from counterfoil_core.arithmetic.otherwise.exact_operands import QUANTISED_KINDS, quantised_arguments
from counterfoil_core.arithmetic.otherwise.reordering import Order, reordered
from counterfoil_core.kernels.exact import functions
from counterfoil_core.kernels.exact.forms import Profile, is_sound
from counterfoil_core.kernels.exact.limits import float64_block
from counterfoil_core.kernels.exact.products import Form
from counterfoil_core.kernels.exact.single import from_float64
from counterfoil_core.operators.facts import OperatorClass

_ELEMENTWISE = frozenset(("add", "sub", "rsub", "mul", "div"))
_PRODUCTS = frozenset(("mm", "bmm", "mv", "dot", "convolution", "convolution_backward"))
_MOVE = functions.ERROR * 15 / 16
"""How far a function is moved: with the library's own error it stays within what is allowed for."""
_FORMS = ((Form.INT8, Form.FLOAT32, Form.FLOAT64), (Form.FLOAT32, Form.INT8, Form.FLOAT64))
"""By variant: in which form products are computed, if the machine has it right and it is not the usual one."""


class ExactImitation:
    """Another machine under an exact profile.

    Args:
        profile: The profile, and the forms that this machine uses.
        wide: Computes sums and products in float64 as the other machine does.
        order: In which order it reads the reduced axes of products that it computes in another form; None as they are.
        variant: Which other form, 0 or 1; None computes products in float64.
        move: Key of the pattern in which functions are moved; None leaves them.
    """

    def __init__(
        self, profile: Profile, wide: Compute, *, order: Order | None, variant: int | None, move: int | None
    ) -> None:
        self._profile = profile
        self._wide = wide
        self._changes = {} if order is None else reordered(order)
        self._variant = variant
        self._move = move
        self._plainly = exactly(profile)

    def compute(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Compute one operator."""
        kind = operation.node.entry.kind
        if kind in _ELEMENTWISE and _is_floating(operation) and "rounding_mode" not in kwargs:
            return self._elementwise(operation, args, kwargs)
        if operation.node.entry.operator_class is not OperatorClass.ROUNDED:
            return self._plainly(operation, args, kwargs)
        if kind in functions.FUNCTIONS and self._move is not None:
            return self._function(operation, args, kwargs)
        if kind not in QUANTISED_KINDS:
            return self._plainly(operation, args, kwargs)
        arguments = operation.named(args, kwargs)
        if kind != "convolution_backward":
            return self._sum(operation, args, kwargs, arguments, 0)
        wanted, results = arguments["output_mask"], []
        for n in range(3):
            only = {**arguments, "output_mask": [i == n for i in range(3)]}
            results.append(self._sum(operation, args, kwargs, only, n) if wanted[n] else None)
        return results

    def _elementwise(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Float64 has more than twice the bits of float32, and two more: its rounding does not show (Figueroa 1995)."""
        if self._variant is None:
            return self._plainly(operation, args, kwargs)
        wide = [_wide(arg) if position < 2 else arg for position, arg in enumerate(args)]
        return operation.function(*wide, **kwargs).to(torch.float32)

    def _function(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        assert self._move is not None
        names = functions.operand_names(operation.node.entry.kind)
        arguments = operation.named(args, kwargs)
        kind = operation.node.entry.kind
        operands, approximate = functions.approximated(kind, *(arguments[name] for name in names))
        return functions.round_function(kind, operands, _moved(approximate, self._move))

    def _sum(
        self, operation: Operation, args: list[Any], kwargs: dict[str, Any], arguments: dict[str, Any], output: int
    ) -> Any:
        """Compute an output of a sum or a product; of several outputs only this one is asked for."""
        kind = operation.node.entry.kind
        product = kind in _PRODUCTS
        long = product and _terms(kind, arguments, output) > float64_block(2 * self._profile.bits)
        if product and (self._variant is not None or long):
            changed = replace(operation, function=_Form(operation, self._other_form(arguments)), is_piece=True)
            given = _given(operation, args, kwargs, arguments)
            change = self._changes.get(kind)
            result = changed.function(*given[0], **given[1]) if change is None else change(changed, *given)
            return result[output] if kind == "convolution_backward" else result
        quantised = quantised_arguments(kind, arguments, self._profile.bits)
        device = next(value.device for value in arguments.values() if isinstance(value, Tensor))
        # Also what only lends its shape: an algorithm may take the dtype of its result from there.
        held = {name: _held(value, device) for name, value in quantised.items()}
        # Of a sum the dtype of its result may be asked for.
        result = self._wide(
            operation, *_given(operation, args, kwargs, {**held, "dtype": _widened(arguments.get("dtype"))})
        )
        return from_float64(result[output] if kind == "convolution_backward" else result)

    def _other_form(self, arguments: Mapping[str, Any]) -> Profile:
        device = next(value.device for value in arguments.values() if isinstance(value, Tensor))

        def other(own: Form) -> Form:
            forms = (form for form in _FORMS[self._variant or 0] if form is not own and is_sound(str(device), form))
            return next(forms, own)

        own = self._profile
        return Profile(own.bits, other(own.matrices), other(own.batches), other(own.kernels))


class _Form:
    """An operator in another form of its products, to be called like torch's."""

    def __init__(self, operation: Operation, profile: Profile) -> None:
        self._rule = DEFINITIONS[operation.node.entry.kind]
        self._operation = operation
        self._profile = profile
        self._schema = operation.function._schema

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._rule(self._operation.named(list(args), kwargs), self._profile)


def _given(
    operation: Operation, args: list[Any], kwargs: dict[str, Any], arguments: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments as they were given, by position and by name, with other values."""
    positions = zip(operation.parameter_names, args, strict=False)
    return [arguments[name] for name, _ in positions], {name: arguments[name] for name in kwargs}


def _is_floating(operation: Operation) -> bool:
    output = operation.node.outputs[0]
    return output is not None and output.floating


def _wide(operand: Any) -> Any:
    """An operand in float64, after it has taken the nearest float32 value."""
    if isinstance(operand, Tensor):
        return operand.to(torch.float32).to(torch.float64)
    return float(np.float32(operand))


def _held(argument: Any, device: torch.device) -> Any:
    if not isinstance(argument, Tensor):
        return argument
    return argument.to(device, torch.float64 if argument.is_floating_point() else argument.dtype)


def _widened(dtype: torch.dtype | None) -> torch.dtype | None:
    return torch.float64 if dtype is torch.float32 else dtype


def _moved(values: Tensor, key: int) -> Tensor:
    """Move each value by a part of itself, up, down or not, as its own bits decide."""
    bits = values.contiguous().view(torch.int64)
    shift = ((bits ^ key) * -7046029254386353131 >> 61) % 3 - 1
    return values * (1 + shift.to(torch.float64) * _MOVE)


def _terms(kind: str, arguments: Mapping[str, Any], output: int) -> int:
    """How many products are added to an element."""
    if kind in ("mm", "bmm", "mv", "dot"):
        return int(arguments["self"].shape[-1])
    weight, transposed = arguments["weight"], arguments["transposed"]
    if kind == "convolution_backward" and output == 1:
        small = arguments["input" if transposed else "grad_output"]
        return int(small.shape[0] * math.prod(small.shape[2:]))
    by_first = transposed if kind == "convolution" else not transposed
    kernel = math.prod(weight.shape[2:])
    return int(weight.shape[0] // arguments["groups"] * kernel if by_first else weight.shape[1] * kernel)

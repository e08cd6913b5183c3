"""Numbers on a device: tensors of no axes, and formulas over such, which whoever needs one computes in a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor

Step = tuple[str, int, int]
"""What it does, and the numbers that it takes: first those that are read, then what each step makes."""


class DeviceNumber:
    """A float64 number on a device that is not computed yet, for instance a scale, of numbers there.

    Sums, products, quotients and roots of it are such numbers again, and launch nothing. The operations are IEEE 754's.

    Args:
        operation: ``READ``, ``ADD``, ``MUL``, ``DIV`` or ``SQRT``.
        operands: What it is done to: for ``READ`` a floating-point tensor ``[]``.
    """

    __slots__ = ("_operands", "_operation")

    def __init__(self, operation: str, *operands: DeviceNumber | Tensor | float) -> None:
        self._operation = operation
        self._operands = operands

    @classmethod
    def read(cls, tensor: Tensor) -> DeviceNumber:
        """Return the number that lies in a tensor ``[]``."""
        return cls("READ", tensor)

    def __add__(self, other: DeviceNumber | Tensor | float) -> DeviceNumber:
        return DeviceNumber("ADD", self, other)

    __radd__ = __add__

    def __mul__(self, other: DeviceNumber | Tensor | float) -> DeviceNumber:
        return DeviceNumber("MUL", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: DeviceNumber | Tensor | float) -> DeviceNumber:
        return DeviceNumber("DIV", self, other)

    def sqrt(self) -> DeviceNumber:
        """Return the square root."""
        return DeviceNumber("SQRT", self)

    @property
    def device(self) -> torch.device:
        """Where it lies."""
        for operand in self._operands:
            if isinstance(operand, (DeviceNumber, Tensor)):
                return operand.device
        raise AssertionError("a number of no device")

    def steps(self) -> tuple[tuple[Step, ...], Sequence[Tensor]]:
        """Return how it is computed, the result last, and the tensors ``[]`` that are read."""
        device, read, made = self.device, list[Tensor](), list[tuple[str, list[tuple[bool, int]]]]()

        def place(one: DeviceNumber | Tensor | float) -> tuple[bool, int]:
            if isinstance(one, DeviceNumber) and one._operation != "READ":
                taken = [place(operand) for operand in one._operands]
                made.append((one._operation, taken))
                return True, len(made) - 1
            (tensor,) = one._operands if isinstance(one, DeviceNumber) else (one,)
            assert not isinstance(tensor, DeviceNumber)
            if not isinstance(tensor, Tensor):
                tensor = constant_on(tensor, torch.float64, device)
            read.append(tensor)
            return False, len(read) - 1

        place(self)
        steps = []
        for name, taken in made:
            one, other = ([number + len(read) * is_made for is_made, number in taken] * 2)[:2]
            steps.append((name, one, other))
        return tuple(steps), read

    def __float__(self) -> float:
        """Compute it, and wait for the device."""
        steps, read = self.steps()
        values = [float(one) for one in read]
        for name, one, other in steps:
            x, y = (torch.tensor(values[number], dtype=torch.float64) for number in (one, other))
            # By tensors, in which what is divided by zero, and the root of what is below it, are no errors.
            values.append(float({"ADD": x + y, "MUL": x * y, "DIV": x / y, "SQRT": x.sqrt()}[name]))
        return values[-1]


def number_on(value: int | float, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return a number as a tensor of no axes, as ``torch.tensor`` does, and wait for no device.

    What is copied from the host's memory to a CUDA device waits for it; what is filled there does not.
    """
    found = torch.tensor(value, dtype=dtype)
    # As the dtype holds it: what is too large for it is infinite by then.
    return found if device.type == "cpu" else torch.full((), found.item(), dtype=dtype, device=device)


def constant_on(value: int | float, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return a number of a program, as :func:`number_on` does; filled once on a device, it may not be changed."""
    # Zeros of both signs are equal as keys.
    if device.type == "cpu":
        return number_on(value, dtype, device)
    return _filled(float(value).hex(), dtype, device)


@lru_cache(maxsize=1 << 12)
def _filled(value: str, dtype: torch.dtype, device: torch.device) -> Tensor:
    return number_on(float.fromhex(value), dtype, device)

"""Numbers on a device as formulas over what lies there: whoever needs one computes it, in a kernel of its own."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from counterfoil_core.kernels.exact.single import constant_on

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
            found = {"ADD": torch.add, "MUL": torch.mul, "DIV": torch.div}.get(name)
            values.append(float(x.sqrt() if found is None else found(x, y)))
        return values[-1]

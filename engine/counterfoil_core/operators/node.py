"""One use of an operator: its name, its arguments and the types of its outputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from counterfoil_core.base.plaintext import spell
from counterfoil_core.operators.catalogue import classify
from counterfoil_core.operators.facts import Operator


@dataclass(frozen=True)
class Value:
    """A reference to a value by its number."""

    number: int


@dataclass(frozen=True)
class Keyword:
    """A torch constant among the arguments: ``kind`` is ``dtype``, ``memory_format`` or ``layout``."""

    kind: str
    name: str


Argument = Value | Keyword | bool | int | float | str | None | tuple["Argument", ...]
"""What may stand as an operator's argument."""


@dataclass(frozen=True)
class TensorType:
    """Dtype name and shape of a value."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def floating(self) -> bool:
        """Whether the value is floating-point."""
        return self.dtype == "float32"

    @property
    def elements(self) -> int:
        """Number of elements."""
        count = 1
        for length in self.shape:
            count *= length
        return count


@dataclass(frozen=True)
class Node:
    """One operator of a program."""

    operator: str  #: Full name, for instance ``aten.mm.default``.
    args: tuple[Argument, ...]  #: Positional arguments.
    kwargs: tuple[tuple[str, Argument], ...]  #: Keyword arguments, sorted by name.
    #: Type of each output; None where the operator returns none (a mask asked for none).
    outputs: tuple[TensorType | None, ...]
    first_value: int  #: Number of the first output's value.
    module: str  #: Path of the module or the optimizer slot it came from; empty for the top.
    phase: str  #: The pass: ``forward``, ``backward`` or ``update``.

    @cached_property
    def entry(self) -> Operator:
        """The allow-list entry that applies to this use of the operator."""
        floating = any(output is not None and output.floating for output in self.outputs)
        alpha = dict(self.kwargs).get("alpha", 1)
        # rsub and Scalar overloads take alpha by position: (self, other, alpha).
        if self.operator.split(".")[1] in ("add", "sub", "rsub") and len(self.args) > 2:
            alpha = self.args[2]
        return classify(self.operator, alpha=alpha, floating=floating)

    @cached_property
    def floating(self) -> tuple[bool, ...]:
        """For each output whether it is there and floating-point."""
        return tuple(output is not None and output.floating for output in self.outputs)

    @property
    def where(self) -> str:
        """The node in words, for messages: operator, pass and module."""
        module = f" of {spell(self.module)}" if self.module else ""
        return f"{self.operator} ({self.phase}{module})"

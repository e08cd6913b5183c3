"""What families of operators say of those that are single operations of the exact profiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from counterfoil.kernels.exact.forms import Profile

Arguments = Mapping[str, Any]
"""Arguments of an operator by name, with defaults; floating-point tensors are float32, or in their places types."""
Rule = Callable[[Arguments, Profile], Any]
"""Computes an operator by its definition."""


def _none(arguments: Arguments) -> tuple[int, ...]:
    return ()


def _never(arguments: Arguments) -> str | None:
    return None


@dataclass(frozen=True)
class Single:
    """A single operation. What it says of a use follows from the types of its arguments.

    Attributes:
        compute: Computes it.
        products: Gives the number of products that each result adds to an element.
        terms: Gives the number of terms that each result adds to an element at most.
        several: Says why a use is more than one operation; the end of a sentence that begins with the operator's name.
        indexed: Whether it takes integers beside floating-point numbers.
    """

    compute: Rule
    products: Callable[[Arguments], tuple[int, ...]] = _none
    terms: Callable[[Arguments], tuple[int, ...]] = _none
    several: Callable[[Arguments], str | None] = _never
    indexed: bool = False

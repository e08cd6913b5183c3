"""What families of operators say of single operations of the exact profiles before they are computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from counterfoil_core.operators.sums import Arguments


def _none(arguments: Arguments) -> tuple[int, ...]:
    return ()


def _never(arguments: Arguments) -> str | None:
    return None


@dataclass(frozen=True)
class Limited:
    """A single operation. What is said of a use follows from the types of its arguments."""

    #: Gives the number of products that each result adds to an element.
    products: Callable[[Arguments], tuple[int, ...]] = _none
    #: Gives the number of terms that each result adds to an element at most.
    terms: Callable[[Arguments], tuple[int, ...]] = _none
    #: Says why a use is more than one operation; the end of a sentence that begins with the operator's name.
    several: Callable[[Arguments], str | None] = _never
    indexed: bool = False  #: Whether it takes integers beside floating-point numbers.

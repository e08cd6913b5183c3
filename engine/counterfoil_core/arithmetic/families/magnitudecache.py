"""What is known of the values of a step: the sweep that wrote or fingerprinted a value saw every element of it.

Values are told apart by their numbers in the program, where each is computed once and never changes; never by where
they lie in memory, which serves other values later. Views that keep the elements are followed through the program
(:mod:`counterfoil_core.program.sameness`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from counterfoil_core.program.sameness import Same

Matrices = tuple[int, int, int]
"""A stack of matrices: their number, rows, columns."""
Asked = tuple[int, int, int, int]
"""The stack of matrices that a tensor was measured as; the kind of magnitudes that was asked for."""


class Known:
    """Largest magnitudes of values, and magnitudes of their rows and columns, for one step.

    Args:
        same: What each value of the program is another form of, by its number.
    """

    def __init__(self, same: Sequence[Same]) -> None:
        self._same = same
        self._largest: dict[int, float] = {}
        self._sizes: dict[tuple[int, Asked], Any] = {}
        self._orders: dict[tuple[int, int], int] = {}
        self._numbers: Mapping[str, int] = {}
        self._arguments: Mapping[str, Any] = {}
        self._are_told = True
        """Whether :meth:`_tell` was called for these."""

    def forget(self) -> None:
        """Forget all values: another step begins."""
        self._largest.clear()
        self._sizes.clear()
        self.leave()

    def note(self, number: int, largest: float) -> None:
        """Keep the largest magnitude of the value of a number."""
        self._largest[self._same[number].members] = largest

    def meet(self, numbers: Mapping[str, int], arguments: Mapping[str, Any]) -> None:
        """Say which values the arguments of the next operator are; what was said of another one no longer holds.

        Args:
            numbers: Numbers of values by the names of the parameters.
            arguments: The arguments by name; they stay alive while their magnitudes are asked for.
        """
        self._numbers, self._arguments, self._are_told = numbers, arguments, False

    def leave(self) -> None:
        """Take leave of the arguments that were met: of no tensor is anything known until others are."""
        self.meet({}, {})

    def _tell(self) -> None:
        """Say where the elements of arguments lie, once somebody asks: of many operators nobody does."""
        self._are_told = True
        self._orders.clear()
        for name, number in self._numbers.items():
            value = self._arguments.get(name)
            if isinstance(value, Tensor):
                same = self._same[number]
                # The elements in the order of the value that it is a form of, if they lie so in memory. While the
                # arguments live no other elements lie there.
                laid_out = value.transpose(-1, -2) if same.turned else value
                if laid_out.is_contiguous():
                    self._orders[value.data_ptr(), value.numel()] = same.order

    def _number(self, value: Tensor) -> int | None:
        """Return the number of the value that an argument is."""
        for name, number in self._numbers.items():
            if self._arguments.get(name) is value:
                return number
        return None

    def order(self, value: Tensor) -> int | None:
        """Return the number of the value whose elements lie in this order, or None.

        Args:
            value: A contiguous form of an argument, or a view that keeps its elements; of others nothing is known.
        """
        if not self._are_told:
            # Most that is asked for is an argument itself, of a value that is no other one with its axes exchanged.
            number = self._number(value)
            if number is not None and not self._same[number].turned:
                return self._same[number].order
            self._tell()
        return self._orders.get((value.data_ptr(), value.numel())) if self._orders else None

    def largest(self, value: Tensor) -> float | None:
        """Return the largest magnitude of an argument, or None."""
        number = self._number(value)
        return None if number is None else self._largest.get(self._same[number].members)

    def keep_largest(self, value: Tensor, largest: float) -> None:
        """Keep what was measured of an argument; of another tensor nothing is kept."""
        number = self._number(value)
        if number is not None:
            self._largest[self._same[number].members] = largest

    def sizes(self, order: int, asked: Asked) -> Any:
        """Return what was kept of the rows and columns of a value, or None.

        Args:
            order: What :meth:`order` gave of a form of it.
            asked: As what it is measured, and which magnitudes.
        """
        return self._sizes.get((order, asked))

    def keep_sizes(self, order: int, asked: Asked, sizes: Any) -> None:
        """Keep what was measured of rows and columns of a value.

        Args:
            order: What :meth:`order` gave of a form of it.
            asked: As what it was measured, and which magnitudes.
            sizes: What was found.
        """
        self._sizes[order, asked] = sizes

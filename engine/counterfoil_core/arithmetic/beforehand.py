"""What a precision profile says of a program before anything of it is computed, and without what computes.

An inspection asks no more; recording and replaying are :mod:`counterfoil_core.arithmetic.profiles`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from counterfoil_core.arithmetic.exact.admission import check_exact
from counterfoil_core.arithmetic.grid.margin import kinds_without_bound, site_margins
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision, Precision
from counterfoil_core.program.graph import Program


class Beforehand(ABC):
    """What is known of a program under a profile."""

    def check_program(self, program: Program, cancel: CancelToken | None = None) -> None:  # noqa: B027
        """Check that a program whose types were checked has a result under the profile: on the grid each has one.

        Raises:
            ProgramError: An operator has none.
            CancelledError: ``cancel`` was set.
        """

    def check_margins(self, program: Program, cancel: CancelToken | None = None) -> None:  # noqa: B027
        """Check that the margins of a program's rounding sites can be told, and remember them; exact ones have none.

        Raises:
            ProgramError: An operator does not take its arguments.
            CancelledError: ``cancel`` was set.
        """

    @abstractmethod
    def kinds_without_proof(self, programs: Iterable[Program]) -> tuple[str, ...]:
        """Return the operator kinds whose margin is not proven, sorted."""


@dataclass(frozen=True)
class _Rounded(Beforehand):
    """On the grid each operator has a result, and each rounding site a margin."""

    precision: Precision

    def check_margins(self, program: Program, cancel: CancelToken | None = None) -> None:
        """See :meth:`Beforehand.check_margins`."""
        site_margins(program, self.precision, cancel)

    def kinds_without_proof(self, programs: Iterable[Program]) -> tuple[str, ...]:
        """Kinds whose bound nobody has proven, or whose margin was calibrated."""
        return tuple(sorted({kind for program in programs for kind in kinds_without_bound(program, self.precision)}))


@dataclass(frozen=True)
class _Defined(Beforehand):
    """Exact: some operators have no result, and no margin is needed."""

    precision: ExactPrecision

    def check_program(self, program: Program, cancel: CancelToken | None = None) -> None:
        """Every operator has an exact result; raises ProgramError and CancelledError."""
        check_exact(program, self.precision.bits, cancel)

    def kinds_without_proof(self, programs: Iterable[Program]) -> tuple[str, ...]:
        """No margin, nothing to prove."""
        return ()


def beforehand(precision: AnyPrecision) -> Beforehand:
    """Return what a precision profile says of programs before they are computed."""
    return _Defined(precision) if isinstance(precision, ExactPrecision) else _Rounded(precision)

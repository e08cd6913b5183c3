"""One arithmetic for each precision profile: how a step is recorded and replayed, and what its log holds.

There are two (ADR 14). :class:`Rounded` is the paper's: results of a wide dtype are rounded to a grid, and a log says
which way close decisions went. :class:`Defined` is exact: every result is what mathematics says, and there is no log.
Nobody else asks which of both a profile is in order to choose between them, but
:mod:`counterfoil_core.arithmetic.beforehand`, which has what is known of a program before it is computed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from counterfoil_core.arithmetic.grid.exactresults import Unrounded
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.arithmetic.grid.log import SiteLog, decode, encode
from counterfoil_core.arithmetic.grid.margin import Margin, own_log_margins
from counterfoil_core.arithmetic.grid.replayrounder import ReplayingRounder
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.base.errors import LogError
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision, Precision
from counterfoil_core.base.sentence import say
from counterfoil_core.program.graph import Program

if TYPE_CHECKING:
    from counterfoil_core.arithmetic.grid.ahead import RecordingAhead, ReplayingAhead, UnroundedAhead

    Recorder: TypeAlias = RecordingRounder | Unrounded | RecordingAhead | UnroundedAhead
    Replayer: TypeAlias = ReplayingRounder | Unrounded | ReplayingAhead | UnroundedAhead


class CloserLook(NamedTuple):
    """What a replay keeps beside its result; see :class:`ReplayingRounder`, whose arguments these are."""

    keep_log: bool = False
    observe: int | None = None
    own_margins: Sequence[Margin] | None = None


class Arithmetic(ABC):
    """What a precision profile makes of the results of a step."""

    @property
    @abstractmethod
    def product_dtypes(self) -> tuple[str, ...]:
        """In which dtypes products may be computed."""

    def recorder(self, program: Program, kernels: Kernels) -> Recorder:
        """Return the trainer's side of a step; on a CUDA device it runs ahead of that (ADR 12)."""
        return self._recorder(program, kernels, ahead=kernels.run_ahead)

    def replayer(
        self,
        program: Program,
        kernels: Kernels,
        *,
        keep_log: bool = False,
        observe: int | None = None,
        own_margins: Sequence[Margin] | None = None,
    ) -> Replayer:
        """Return the auditor's side of a step; it runs ahead of a CUDA device where nothing is looked at on the way.

        Args:
            program: The program of the step.
            kernels: The rounding kernels.
            keep_log: Keep an own log too.
            observe: Keep what happens at the place of this number.
            own_margins: Margins of the sites of an own log, as :meth:`own_margins` gives them; None for the order's.
        """
        look = CloserLook(keep_log, observe, own_margins)
        return self._replayer(program, kernels, look, ahead=kernels.run_ahead and look == CloserLook())

    @abstractmethod
    def _recorder(self, program: Program, kernels: Kernels, *, ahead: bool) -> Recorder: ...

    @abstractmethod
    def _replayer(self, program: Program, kernels: Kernels, look: CloserLook, *, ahead: bool) -> Replayer: ...

    @abstractmethod
    def encode_log(self, logs: Sequence[SiteLog]) -> bytes:
        """Return the bytes of a step's log."""

    @abstractmethod
    def decode_log(self, program: Program, data: bytes) -> tuple[SiteLog, ...]:
        """Read the log of a step, which may come from a stranger: one part for each rounding site, or nothing.

        Raises:
            LogError: The bytes are no log of this profile.
        """

    @abstractmethod
    def own_margins(self, program: Program) -> tuple[Margin, ...] | None:
        """Return the margins of a log that a machine writes for itself; None where there is no log."""


@dataclass(frozen=True)
class Rounded(Arithmetic):
    """The paper's arithmetic: compute wide, round to the grid, log close decisions."""

    precision: Precision

    @property
    def product_dtypes(self) -> tuple[str, ...]:
        """The compute dtype."""
        return (self.precision.compute,)

    # Not every machine has Triton, which running ahead needs, so that is imported where it is asked for.
    def _recorder(self, program: Program, kernels: Kernels, *, ahead: bool) -> Recorder:
        if not ahead:
            return RecordingRounder(program, self.precision, kernels)
        from counterfoil_core.arithmetic.grid.ahead import RecordingAhead

        return RecordingAhead(program, self.precision, kernels)

    def _replayer(self, program: Program, kernels: Kernels, look: CloserLook, *, ahead: bool) -> Replayer:
        if not ahead:
            return ReplayingRounder(program, self.precision, kernels, **look._asdict())
        from counterfoil_core.arithmetic.grid.ahead import ReplayingAhead

        return ReplayingAhead(program, self.precision, kernels)

    def encode_log(self, logs: Sequence[SiteLog]) -> bytes:
        """See :func:`counterfoil_core.arithmetic.grid.log.encode`."""
        return encode(logs)

    def decode_log(self, program: Program, data: bytes) -> tuple[SiteLog, ...]:
        """One part for each rounding site; raises LogError."""
        return decode(data, [site.elements for site in program.sites])

    def own_margins(self, program: Program) -> tuple[Margin, ...]:
        """See :func:`counterfoil_core.arithmetic.grid.margin.own_log_margins`."""
        return own_log_margins(program, self.precision)


@dataclass(frozen=True)
class Defined(Arithmetic):
    """Exact arithmetic: no result is rounded to a grid, nothing is logged, and no margin is needed."""

    precision: ExactPrecision

    @property
    def product_dtypes(self) -> tuple[str, ...]:
        """Products are computed in float64, or in float32 digits."""
        return ("float64", "float32")

    def _recorder(self, program: Program, kernels: Kernels, *, ahead: bool) -> Recorder:
        return self._replayer(program, kernels, CloserLook(), ahead=ahead)

    def _replayer(
        self, program: Program, kernels: Kernels, look: CloserLook, *, ahead: bool
    ) -> Unrounded | UnroundedAhead:
        if not ahead:
            return Unrounded(program, kernels, look.observe)
        from counterfoil_core.arithmetic.grid.ahead import UnroundedAhead

        return UnroundedAhead(program, kernels)

    def encode_log(self, logs: Sequence[SiteLog]) -> bytes:
        """Nothing."""
        return b""

    def decode_log(self, program: Program, data: bytes) -> tuple[SiteLog, ...]:
        """Nothing; raises LogError where there is something."""
        if data:
            raise LogError(
                say("The run has a rounding log of {0} bytes under an exact profile, which has none.", len(data))
            )
        return ()

    def own_margins(self, program: Program) -> None:
        """There are none."""
        return None


def arithmetic_of(precision: AnyPrecision) -> Arithmetic:
    """Return the arithmetic of a precision profile."""
    return Defined(precision) if isinstance(precision, ExactPrecision) else Rounded(precision)

"""What a precision profile makes of the results of a step: rounded and logged, or exact and without a log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from counterfoil.arithmetic.grid.log import SiteLog, decode, encode
from counterfoil.arithmetic.grid.margin import Margin, kinds_without_bound, own_log_margins, site_margins
from counterfoil.arithmetic.grid.rounder import Kernels, RecordingRounder, ReplayingRounder
from counterfoil.arithmetic.grid.unrounded import Unrounded
from counterfoil.base.cancel import CancelToken
from counterfoil.base.errors import LogError
from counterfoil.base.precision import AnyPrecision, ExactPrecision, Precision
from counterfoil.base.sentence import say
from counterfoil.program.graph import Program

if TYPE_CHECKING:
    from counterfoil.arithmetic.grid.ahead import RecordingAhead, ReplayingAhead, UnroundedAhead


def recording_rounder(
    program: Program, precision: AnyPrecision, kernels: Kernels
) -> RecordingRounder | Unrounded | RecordingAhead | UnroundedAhead:
    """Return the trainer's side of a step."""
    if kernels.run_ahead:
        # Not every machine has Triton, which this needs.
        from counterfoil.arithmetic.grid.ahead import RecordingAhead, UnroundedAhead

        if isinstance(precision, ExactPrecision):
            return UnroundedAhead(program, kernels)
        return RecordingAhead(program, precision, kernels)
    if isinstance(precision, ExactPrecision):
        return Unrounded(program, kernels)
    return RecordingRounder(program, precision, kernels)


def replaying_rounder(
    program: Program,
    precision: AnyPrecision,
    kernels: Kernels,
    *,
    keep_log: bool = False,
    observe: int | None = None,
    own_margins: Sequence[Margin] | None = None,
) -> ReplayingRounder | Unrounded | ReplayingAhead | UnroundedAhead:
    """Return the auditor's side of a step; the arguments are those of :class:`ReplayingRounder`."""
    if kernels.run_ahead and not keep_log and observe is None and own_margins is None:
        from counterfoil.arithmetic.grid.ahead import ReplayingAhead, UnroundedAhead

        if isinstance(precision, ExactPrecision):
            return UnroundedAhead(program, kernels)
        return ReplayingAhead(program, precision, kernels)
    if isinstance(precision, ExactPrecision):
        return Unrounded(program, kernels, observe)
    return ReplayingRounder(program, precision, kernels, keep_log=keep_log, observe=observe, own_margins=own_margins)


def encode_log(precision: AnyPrecision, logs: Sequence[SiteLog]) -> bytes:
    """Return the bytes of a step's log; under an exact profile there are none."""
    return b"" if isinstance(precision, ExactPrecision) else encode(logs)


def decode_log(program: Program, precision: AnyPrecision, data: bytes) -> tuple[SiteLog, ...]:
    """Read the log of a step, which may come from a stranger: one part for each rounding site, or nothing.

    Raises:
        LogError: The bytes are no log of this profile.
    """
    if isinstance(precision, ExactPrecision):
        if data:
            raise LogError(
                say("The run has a rounding log of {0} bytes under an exact profile, which has none.", len(data))
            )
        return ()
    return decode(data, [site.elements for site in program.sites])


def own_margins(program: Program, precision: AnyPrecision) -> tuple[Margin, ...] | None:
    """Return the margins of a log that a machine writes for itself; None under an exact profile."""
    return None if isinstance(precision, ExactPrecision) else own_log_margins(program, precision)


def check_margins(program: Program, precision: AnyPrecision, cancel: CancelToken | None = None) -> None:
    """Check that the margins of a program's rounding sites can be told, and remember them.

    Raises:
        ProgramError: An operator does not take its arguments.
        CancelledError: ``cancel`` was set.
    """
    if isinstance(precision, Precision):
        site_margins(program, precision, cancel)


def kinds_without_proof(programs: Iterable[Program], precision: AnyPrecision) -> tuple[str, ...]:
    """Return the operator kinds whose margin is not proven, sorted; under an exact profile there is no margin."""
    if isinstance(precision, ExactPrecision):
        return ()
    return tuple(sorted({kind for program in programs for kind in kinds_without_bound(program, precision)}))

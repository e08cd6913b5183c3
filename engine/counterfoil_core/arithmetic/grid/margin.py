"""Proven margins: m of each rounding site from the a-priori error bound of its operator.

A bound is ``factor * gamma_n * S`` (:mod:`counterfoil_core.operators.bounds`). Two machines differ by at most twice of
it, S is below 2^(E + 1), and the trainer's and the auditor's logs agree when they differ by at most 3/4 tau
(``OMISSION_SHARE``), so it proves every m up to

    -log2(4/3 * 2 * 2 * factor * gamma_n).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.dtypes import FLOAT_FORMATS
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.base.precision import Precision
from counterfoil_core.base.sentence import say
from counterfoil_core.kernels.grid import CALIBRATED_STEERABLE, OMISSION_SHARE, PROVEN_STEERABLE
from counterfoil_core.operators.facts import Bound, Use
from counterfoil_core.operators.node import Node
from counterfoil_core.program.graph import Program, types_by_name

_SCALE_SLACK = 1.0 + 2.0**-8
"""Scales are sums of magnitudes, computed with a relative error far below this."""


@dataclass(frozen=True)
class Margin:
    """The margin of a rounding site."""

    bits: int  #: m.
    #: The largest m, not rounded down, within which the error bound of the site's operator proves that honest machines
    #: agree; None where there is no such bound.
    proven_bits: float | None = None

    @property
    def proven(self) -> bool:
        """Whether honest machines provably agree within the margin."""
        return self.proven_bits is not None

    @property
    def steerable(self) -> float:
        """The share of tau beyond which honest machines do not differ: by the bound, or by experience."""
        if self.proven_bits is None:
            return CALIBRATED_STEERABLE
        return PROVEN_STEERABLE * math.exp2(self.bits - self.proven_bits)


def gamma(terms: int, compute: str) -> float:
    """Return gamma_terms in a compute dtype; infinite where it has none."""
    unit = terms * 2.0 ** -FLOAT_FORMATS[compute].significand_bits
    return unit / (1 - unit) if unit < 0.5 else math.inf


def error_bound(bound: Bound, exponent: int, compute: str) -> float:
    """Return the largest error that a machine can make on an output whose scale has this exponent.

    Args:
        bound: The bound of the output.
        exponent: E = floor(log2 S); S itself is below 2^(E + 1).
        compute: The compute dtype of the profile, by name.
    """
    share = bound.factor * _SCALE_SLACK * gamma(bound.terms, compute)
    return math.ldexp(share, exponent + 1) if math.isfinite(share) else math.inf


def margin_bits(bound: Bound, compute: str) -> float:
    """Return the largest m, not rounded down, for which ``tau = 2^(E - m)`` proves that replay agrees."""
    agreement = OMISSION_SHARE / (OMISSION_SHARE - 1)
    # What adds no terms makes no error: the bound of one does no harm, and has a logarithm.
    share = agreement * 4 * bound.factor * _SCALE_SLACK * gamma(max(bound.terms, 1), compute)
    return -math.log2(share) if math.isfinite(share) else -math.inf


def is_proven(bits: int, bound: Bound, compute: str) -> bool:
    """Return whether a conforming trainer logs every decision that another conforming machine may take otherwise.

    Args:
        bits: m.
        bound: The bound of the output.
        compute: Name of the compute dtype.
    """
    return bits <= margin_bits(bound, compute)


_KEPT = 8
_known: dict[tuple[Digest, Precision], tuple[Margin, ...]] = {}


def site_margins(program: Program, precision: Precision, cancel: CancelToken | None = None) -> tuple[Margin, ...]:
    """Return the margin of each rounding site of a program.

    Under proven margins a site's m is the smaller one of the profile's and the largest that is proven; a site whose
    operator has no bound, or one that does not fit the profile's grid, keeps the profile's. Under calibrated margins
    all sites do. ``cancel`` is looked at between operators.

    Raises:
        ProgramError: An operator does not take its arguments.
        CancelledError: ``cancel`` was set.
    """
    # A step makes a new rounder: the last few programs are remembered.
    key = (program.digest, precision)
    if key not in _known:
        margins = _site_margins(program, precision, cancel)
        while len(_known) >= _KEPT:
            _known.pop(next(iter(_known)), None)
        _known[key] = margins
    return _known[key]


def _site_margins(program: Program, precision: Precision, cancel: CancelToken | None) -> tuple[Margin, ...]:
    least, _ = precision.margin_range
    if not precision.proven:
        return tuple(Margin(precision.margin_of(site.kind)) for site in program.sites)
    bounds = {}
    for number in {site.node for site in program.sites}:
        if cancel is not None:
            cancel.check()
        bounds[number] = node_bounds(program, program.nodes[number])
    margins = []
    for site in program.sites:
        bound = bounds[site.node][site.output]
        bits = -math.inf if bound is None else margin_bits(bound, precision.compute)
        if bits >= least:
            margins.append(Margin(min(math.floor(bits), precision.margin_bits), bits))
        else:
            margins.append(Margin(precision.margin_bits))
    return tuple(margins)


def own_log_margins(program: Program, precision: Precision) -> tuple[Margin, ...]:
    """Return the margins of a log that a machine writes for itself: proven where the grid has room for it."""
    least, _ = precision.margin_range
    result = []
    for site, margin in zip(program.sites, site_margins(program, precision), strict=True):
        bound = node_bounds(program, program.nodes[site.node])[site.output]
        proven = -math.inf if bound is None else margin_bits(bound, precision.compute)
        result.append(margin if bound is None else Margin(min(margin.bits, math.floor(max(proven, least))), proven))
    return tuple(result)


def kinds_without_bound(program: Program, precision: Precision) -> tuple[str, ...]:
    """Return the operator kinds with a rounding site whose margin is not proven, sorted; under calibrated ones all."""
    margins = site_margins(program, precision)
    return tuple(sorted({s.kind for s, margin in zip(program.sites, margins, strict=True) if not margin.proven}))


def node_bounds(program: Program, node: Node) -> Sequence[Bound | None]:
    """Return the bound of each output of a rounded operator; None where none is known.

    Raises:
        ProgramError: The operator does not take such arguments.
    """
    try:
        return bounds_of(Use(node.entry, types_by_name(node, program.types), len(node.outputs)))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise ProgramError(say("The operator {0} cannot be computed.", node.where), detail=str(error)) from error


def bounds_of(use: Use) -> Sequence[Bound | None]:
    """Return the bound of each output of one use of an operator; None where none is known."""
    return [None] * use.outputs if use.entry.bound is None else use.entry.bound(use)

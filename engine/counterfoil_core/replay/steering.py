"""How far a trainer could have steered a run through its rounding log, and whether it looks as if it did.

A logged direction is followed where the replay's own value lies within twice the margin of the midpoint, so each entry
lets the trainer choose between two neighbouring grid points: by one quantum, at most 2^(1-p) of the tensor's scale 2^E.
Two kinds of entries leave honest hardware no choice, and are called *steerable*:

* The own value is farther from the midpoint than honest hardware differs: a sixteenth of a calibrated margin, or
  what the error bound of a proven one allows.
* The own value is the midpoint itself, at a site of sums or of sums of products with several such ties where nearly
  every close decision is one. Sums that are exact give ties, for instance of pixels times weights; sums that are not
  would scatter around the midpoint, and hit it by chance. Exact sums are the same on all hardware, and so is the
  direction, ties to even. Not so ``x - 0.7 y``: where y is a multiple of ten steps of its grid the exact value lies
  next to the midpoint, and it is the rounding of the product that hits it, or a fused operation that does not.

A direction of a steerable entry that differs from the replay's own was *steered*. The share is judged for every
rounding site, every operator kind and the whole run. Suppose that honest hardware steered a share q of the steerable
entries, independently. Chernoff's bound (Hoeffding 1963, theorem 1) says that k or more of n occur with probability at
most exp(-n D(k/n || q)), where D is the relative entropy of two coins. Directions look chosen where this is below
2^-40. With q = 2^-8 that takes 6 of 6, 10 of 50, 37 of 2,000, or a share of 0.44 % of a million.
docs/threat-model.md has the shares measured in honest runs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import add
from typing import Self

import numpy as np
import numpy.typing as npt

from counterfoil_core.base.precision import Precision
from counterfoil_core.base.turns import Turns
from counterfoil_core.kernels.result import NOTHING, Counts
from counterfoil_core.operators.facts import Trait
from counterfoil_core.operators.node import Node
from counterfoil_core.order.admission import AdmittedOrder
from counterfoil_core.program.graph import Program
from counterfoil_core.values.report import NAMED_SITES, Steering, SteeringRow

Sums = npt.NDArray[np.int64]
COLUMNS = ("entries", "corrections", "steerable", "steered", "ties", "broken_ties")
"""What a step counts and an account adds up, site by site."""
_NOTHING = (0,) * len(COLUMNS)

HONEST_SHARE = 2.0**-8
"""q: generous; honest replays on other machines have shown none in 1.6 million (docs/threat-model.md)."""
DOUBT = 2.0**-40
"""Directions look chosen where chance explains them with a smaller probability than this."""
TIES_TO_OTHERS = 8
"""Arithmetic of a site counts as exact where ties are so many times as frequent as other values next to a midpoint, and
at least so many: a lone tie may be chance."""


@dataclass(frozen=True)
class Account:
    """What following the log of some matching steps showed; accounts of the same programs can be added up.

    The empty one, which is that of no program, adds nothing.
    """

    steps: tuple[int, ...] = ()  #: How many steps of each program.
    #: ``[sites, 6]``: the sums over these for each rounding site of all programs, columns as in :data:`COLUMNS`.
    sums: tuple[tuple[int, ...], ...] = ()

    def __add__(self, other: Account) -> Account:
        """Add up; raises ValueError where the other is one of other programs."""
        if not self.steps:
            return other
        pairs = zip(self.sums, other.sums, strict=True)
        return Account(
            tuple(map(sum, zip(self.steps, other.steps, strict=True))),
            tuple(tuple(map(add, one, two)) if any(two) else one for one, two in pairs),
        )


@dataclass(frozen=True)
class LoggedSite:
    """A rounding site of a step."""

    kind: str  #: Its operator kind.
    node: Node  #: Its operator.
    elements: int  #: How many values a step rounds there.


def logged_sites(program: Program, times: int = 1) -> list[LoggedSite]:
    """Return the rounding sites of a program that a step executes so many times."""
    return [LoggedSite(site.kind, program.nodes[site.node], times * site.elements) for site in program.sites]


def _sites(order: AdmittedOrder) -> Turns[Sequence[LoggedSite]]:
    shares, updates = order.manifest.shares, order.updates
    if shares is None or updates is None:
        return order.programs.map(logged_sites)
    found = {
        name: logged_sites(program, shares.count) + logged_sites(updates.parts[name])
        for name, program in order.programs.parts.items()
    }
    return Turns(found, order.programs.pattern)


def rounded_values(order: AdmittedOrder) -> Turns[int]:
    """Return how many values a step of each program of an order rounds."""
    return _sites(order).map(lambda sites: sum(site.elements for site in sites))


class SteeringSites:
    """The rounding sites of a run, at which following its log is accounted for.

    Args:
        sites: The sites of a step of each program. Those of a gradient program stand for all shares of a step.
        significand_bits: p of the precision profile.
    """

    def __init__(self, sites: Turns[Sequence[LoggedSite]], significand_bits: int) -> None:
        self._turns = sites
        self._significand_bits = significand_bits
        listed = [site for of_program in sites.all for site in of_program]
        self._kinds = [site.kind for site in listed]
        """Operator kind of each site, of one program after the other."""
        self._nodes = [site.node for site in listed]
        self._elements = np.array([site.elements for site in listed], np.int64)
        ends = list(accumulate(map(len, sites.all), initial=0))
        self._spans = {name: slice(*span) for name, span in zip(sites.parts, pairwise(ends), strict=True)}
        """Where the sites of each program are."""
        self._sums_only = np.array(list(map(_only_sums, self._nodes)), np.bool_)

    @classmethod
    def of(cls, order: AdmittedOrder) -> Self | None:
        """Return the sites of an order's programs; None under an exact profile, where nothing is rounded to a grid."""
        precision = order.manifest.precision
        return cls(_sites(order), precision.significand_bits) if isinstance(precision, Precision) else None

    def __len__(self) -> int:
        """Number of rounding sites, of all programs."""
        return len(self._nodes)

    @property
    def nothing(self) -> Account:
        """The account of no step."""
        return Account((0,) * len(self._spans), (_NOTHING,) * len(self))

    def account(self, step: int, counts: Iterable[Counts]) -> Account:
        """Return the account of a step: what following its log showed, for each site of its program."""
        rows = [_NOTHING] * len(self)
        for site, count in enumerate(counts, self.first_site(step)):
            if count is not NOTHING:
                rows[site] = tuple(getattr(count, column) for column in COLUMNS)
        return Account(self.steps([step]), tuple(rows))

    def steps(self, steps: Iterable[int]) -> tuple[int, ...]:
        """Return how many of some steps each program has."""
        found = Counter(map(self._turns.name, steps))
        return tuple(found[name] for name in self._spans)

    def first_site(self, step: int) -> int:
        """Return where the rounding sites of a step's program begin among those of all programs."""
        return self._spans[self._turns.name(step)].start

    def fits(self, account: Account) -> bool:
        """Whether an account is one of these sites."""
        width = {len(row) for row in account.sums} <= {len(COLUMNS)}
        return width and len(account.sums) == len(self) and len(account.steps) == len(self._spans)

    def result(self, account: Account) -> Steering:
        """Return what an account comes to: one row for each operator kind, and what looks chosen."""
        rounded = np.zeros(len(self), np.int64)
        for span, steps in zip(self._spans.values(), account.steps, strict=True):
            rounded[span] = self._elements[span] * steps
        sites = _with_exact_ties(np.array(account.sums, np.int64).reshape(-1, len(COLUMNS)), self._sums_only)
        rows = []
        for kind in sorted(set(self._kinds)):
            of_kind = np.array([name == kind for name in self._kinds])
            rows.append(SteeringRow(kind, int(rounded[of_kind].sum()), *(int(n) for n in sites[of_kind].sum(0))))
        return Steering(tuple(rows), self._significand_bits, self._suspects(sites, rows))

    def _suspects(self, sums: Sums, rows: Sequence[SteeringRow]) -> tuple[str, ...]:
        """Name the sites that look steered; where no single one does, the kinds; then the run."""
        chosen = [number for number in range(len(sums)) if looks_chosen(int(sums[number, 2]), int(sums[number, 3]))]
        if chosen:
            chosen.sort(key=lambda number: -int(sums[number, 3]))
            names = dict.fromkeys(self._nodes[number].where for number in chosen)
            return tuple(names)[:NAMED_SITES]
        kinds = tuple(f"all {row.kind}" for row in rows if looks_chosen(row.steerable, row.steered))
        if kinds:
            return kinds
        whole = looks_chosen(sum(row.steerable for row in rows), sum(row.steered for row in rows))
        return ("all operators",) if whole else ()


def _only_sums(node: Node) -> bool:
    """Whether a result is a sum of arguments or of products of two, without a factor that a product is rounded by."""
    given = dict(node.kwargs)
    # index_add, addmm and their like; the factors of addmm can be given by name only.
    return Trait.SUMS in node.entry.traits and all(given.get(name, 1) in (1, -1) for name in ("alpha", "beta"))


def _with_exact_ties(sums: Sums, sums_only: npt.NDArray[np.bool_]) -> Sums:
    """Return entries, corrections, steerable and steered of each site; ties count where arithmetic is exact.

    Args:
        sums: int64 ``[sites, 6]``, columns as in ``COLUMNS``.
        sums_only: bool ``[sites]``: where arithmetic can be exact.
    """
    entries, _, steerable, _, ties, broken = sums.T
    exact = sums_only & (ties >= TIES_TO_OTHERS * np.maximum(entries - steerable - ties, 1))
    result = sums[:, :4].copy()
    result[exact, 2] += ties[exact]
    result[exact, 3] += broken[exact]
    return result


def looks_chosen(steerable: int, steered: int) -> bool:
    """Whether so many steered entries among the steerable ones are more than chance explains on honest hardware."""
    if steered <= HONEST_SHARE * steerable:
        return False
    return steerable * _relative_entropy(steered / steerable, HONEST_SHARE) > -math.log(DOUBT)


def _relative_entropy(share: float, expected: float) -> float:
    """D(share || expected) of two coins, in nats."""
    rest = (1 - share) * math.log((1 - share) / (1 - expected)) if share < 1 else 0.0
    return share * math.log(share / expected) + rest

"""Which parties compute which shares: each share has one set of them, and each set of that size one share.

The subset assignment of Aspis (Konstantinidis and Ramamoorthy, "Aspis: Robust Detection for Distributed Learning",
arXiv 2108.02416). Any two parties have shares in common, so that each is compared with each.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import combinations

from counterfoil_core.base.errors import DataError
from counterfoil_core.bundle.shares import MAX_SHARES

MOST_PARTIES = 30
"""Parties at the most: what they contradict is searched for its largest cliques, exactly."""

Assignment = tuple[tuple[int, ...], ...]
"""The parties of each share, ascending."""


def subset_assignment(parties: int, copies: int) -> Assignment:
    """Return the parties of each share: every set of ``copies`` of them, in lexicographic order.

    Args:
        parties: K, how many parties there are; they have the numbers 0 to K - 1.
        copies: r, how many of them compute a share.

    Raises:
        DataError: There are no such sets, or more of them than a step has shares.
    """
    if not 1 <= copies <= parties <= MOST_PARTIES:
        raise DataError(
            f"Shares cannot be computed by {copies} of {parties} parties each.",
            remedy=f"Choose 1 to {MOST_PARTIES} parties, and no more copies than parties.",
        )
    shares = math.comb(parties, copies)
    if shares > MAX_SHARES:
        raise DataError(
            f"{copies} of {parties} parties can be chosen in {shares:,} ways, and a step has {MAX_SHARES:,} shares at "
            "the most.",
            remedy="Choose fewer parties or another number of copies.",
        )
    return tuple(combinations(range(parties), copies))


def without(assignment: Assignment, excluded: Collection[int], parties: int) -> Assignment:
    """Return an assignment that parties have no part in any more; others take their shares.

    Each copy that is lost goes to the party with the fewest shares that has not this one, the lowest number first; a
    share has fewer copies where not as many parties are left.

    Args:
        assignment: The assignment.
        excluded: The parties.
        parties: How many there are, those among them.
    """
    left = [party for party in range(parties) if party not in excluded]
    kept = [[party for party in share if party not in excluded] for share in assignment]
    load = {party: sum(party in share for share in kept) for party in left}
    for share, before in zip(kept, assignment, strict=True):
        while len(share) < min(len(before), len(left)):
            chosen = min((party for party in left if party not in share), key=lambda party: (load[party], party))
            share.append(chosen)
            load[chosen] += 1
    return tuple(tuple(sorted(share)) for share in kept)


def shares_of(assignment: Sequence[Sequence[int]], party: int) -> tuple[int, ...]:
    """Return the numbers of the shares that a party computes."""
    return tuple(number for number, share in enumerate(assignment) if party in share)

"""How many shares colluding parties can distort where the copies of each are outvoted and nothing is replayed.

The measure of Aspis (arXiv 2108.02416) and of those that it is compared with: the fraction of distorted gradients.
"""

from __future__ import annotations

import math
from fractions import Fraction

from counterfoil.redundancy.assignment import Assignment


def distorted_share(parties: int, copies: int, colluders: int) -> Fraction:
    """Return the fraction of shares that colluders can distort at the most and stay undetected: C(2q, r) / 2 C(K, r).

    They lie on shares whose parties are all of themselves and as many others, where they are the majority: so the
    others are in no larger clique than they. By symmetry these are half of the shares of all 2q; ``copies`` is odd.

    Args:
        parties: K.
        copies: r.
        colluders: q.
    """
    if copies % 2 == 0:
        raise ValueError("a majority needs an odd number of copies")
    return Fraction(math.comb(2 * colluders, copies), 2 * math.comb(parties, copies))


def strongest_lies(assignment: Assignment, colluders: int) -> frozenset[int]:
    """Return the shares that the first parties lie on, as many as collude, to contradict as many others and no more."""
    liars, others = range(colluders), range(2 * colluders)
    return frozenset(
        number
        for number, share in enumerate(assignment)
        if all(party in others for party in share) and 2 * sum(party in liars for party in share) > len(share)
    )


def grouped_share(parties: int, copies: int, colluders: int) -> Fraction:
    """Return the fraction where parties in groups of ``copies`` compute the same share, and each group votes.

    As in DETOX (Rajput et al., NeurIPS 2019): a group is distorted where most of it colludes.
    """
    groups = parties // copies
    return Fraction(min(colluders // (copies // 2 + 1), groups), groups)

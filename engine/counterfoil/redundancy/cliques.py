"""Cliques of a small graph, exactly: all of the maximal ones that have some size at least.

Bron and Kerbosch's search with a pivot ("Algorithm 457", Communications of the ACM 16, 1973; Tomita, Tanaka and
Takahashi, Theoretical Computer Science 363, 2006, for the pivot), cut off where a clique can no longer be large enough.
"""

from __future__ import annotations

from collections.abc import Sequence


def maximal_cliques(neighbours: Sequence[frozenset[int]], least: int) -> tuple[frozenset[int], ...]:
    """Return the maximal cliques with ``least`` vertices or more, in ascending order of their sorted vertices.

    Args:
        neighbours: Of each vertex those that it is joined to; never itself.
        least: How many vertices a clique must have.
    """
    found: list[frozenset[int]] = []

    def search(clique: frozenset[int], candidates: frozenset[int], seen: frozenset[int]) -> None:
        if len(clique) + len(candidates) < least:
            return
        if not candidates:
            if not seen:
                found.append(clique)
            return
        pivot = max(candidates | seen, key=lambda vertex: len(candidates & neighbours[vertex]))
        for vertex in sorted(candidates - neighbours[pivot]):
            search(clique | {vertex}, candidates & neighbours[vertex], seen & neighbours[vertex])
            candidates, seen = candidates - {vertex}, seen | {vertex}

    search(frozenset(), frozenset(range(len(neighbours))), frozenset())
    return tuple(sorted(found, key=sorted))

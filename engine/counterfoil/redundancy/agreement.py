"""What parties gave for one step, compared: who cannot be honest, and which shares are beyond doubt.

Parties agree on a share where the digests of its records are equal: bit for bit, no tolerance. Honest parties agree on
all that they both computed. So with q faulty ones at the most the honest are part of a clique of K - q in the graph of
those who agree, and whoever is in no such clique is faulty. A value that more parties gave than can be faulty is right.
docs/redundancy.md says what follows, and what does not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations

from counterfoil.redundancy.cliques import maximal_cliques
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError

Given = Mapping[int, Digest | None]
"""What each party of a share gave for it: the leaf of the share's record, or None for nothing."""


class Doubt(Enum):
    """What is known of what was given for a share."""

    PROVEN = "proven"
    """More parties gave it than can be faulty."""
    UNCONTRADICTED = "uncontradicted"
    """All gave the same, and all of them may be faulty."""
    CONTRADICTED = "contradicted"
    """They gave different things, and it is not known which of these an honest one gave."""


@dataclass(frozen=True)
class ShareAgreement:
    """What is known of one share.

    Attributes:
        doubt: How well.
        value: What is taken for right; None where nothing is.
    """

    doubt: Doubt
    value: Digest | None


@dataclass(frozen=True)
class Agreement:
    """What is known of a step.

    Attributes:
        cliques: The maximal cliques of parties who agree in which all honest ones may lie.
        faulty: Parties who cannot be honest.
        shares: What is known of each share.
    """

    cliques: tuple[frozenset[int], ...]
    faulty: frozenset[int]
    shares: tuple[ShareAgreement, ...]

    @property
    def undecided(self) -> tuple[int, ...]:
        """The shares of which a replay must say what is right."""
        return tuple(number for number, each in enumerate(self.shares) if each.doubt is Doubt.CONTRADICTED)

    @property
    def unproven(self) -> tuple[int, ...]:
        """The shares that only faulty parties may have computed: a replay alone shows a lie that they agree on."""
        return tuple(number for number, each in enumerate(self.shares) if each.doubt is Doubt.UNCONTRADICTED)


def agreement_graph(parties: Collection[int], given: Sequence[Given]) -> dict[int, frozenset[int]]:
    """Return with whom each party agrees on every share that both were to compute; giving nothing agrees with nobody.

    Args:
        parties: The parties.
        given: What was given for each share.
    """
    joined = {party: set(parties) - {party} for party in parties}
    for share in given:
        for one, other in combinations(sorted(share.keys() & joined.keys()), 2):
            if share[one] is None or share[one] != share[other]:
                joined[one].discard(other)
                joined[other].discard(one)
    return {party: frozenset(others) for party, others in joined.items()}


def agree(parties: Sequence[int], given: Sequence[Given], most_faulty: int) -> Agreement:
    """Compare what parties gave for the shares of a step.

    Args:
        parties: The numbers of those who take part.
        given: What was given for each share.
        most_faulty: q, how many of them are faulty at the most; fewer than half.

    Raises:
        DataError: ``most_faulty`` is half of the parties or more, or they contradict each other so much that more than
            that are faulty.
    """
    if not 0 <= 2 * most_faulty < len(parties):
        raise DataError(
            f"Of {len(parties)} parties {most_faulty} may be faulty; honest ones must be more than half.",
            remedy="Have more parties compute the shares, or assume fewer faulty ones.",
        )
    graph, places = agreement_graph(parties, given), {party: place for place, party in enumerate(parties)}
    joined = [frozenset(places[other] for other in graph[party]) for party in parties]
    found = maximal_cliques(joined, len(parties) - most_faulty)
    cliques = tuple(frozenset(parties[place] for place in clique) for clique in found)
    if not cliques:
        raise DataError(
            f"No {len(parties) - most_faulty} of {len(parties)} parties agree, so more than {most_faulty} are faulty.",
            remedy="Replay the step: an audit names the share that is not what was ordered.",
        )
    faulty = frozenset(parties) - frozenset().union(*cliques)
    left = most_faulty - len(faulty)
    return Agreement(cliques, faulty, tuple(_known_of(share, faulty, left) for share in given))


def _known_of(share: Given, faulty: frozenset[int], left: int) -> ShareAgreement:
    """Say what is known of a share, of whose other parties ``left`` may be faulty."""
    values = [value for party, value in sorted(share.items()) if party not in faulty]
    counts = {value: values.count(value) for value in dict.fromkeys(values) if value is not None}
    proven = [value for value, count in counts.items() if count > left]
    if proven:
        return ShareAgreement(Doubt.PROVEN, proven[0])
    if len(counts) == 1 and None not in values:
        return ShareAgreement(Doubt.UNCONTRADICTED, next(iter(counts)))
    return ShareAgreement(Doubt.CONTRADICTED, None)

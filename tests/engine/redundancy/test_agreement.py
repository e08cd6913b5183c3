"""Assignment, graph, cliques and what follows of them, against brute force on few parties."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import chain, combinations

import pytest

from counterfoil.redundancy.agreement import Doubt, Given, agree, agreement_graph
from counterfoil.redundancy.assignment import shares_of, subset_assignment, without
from counterfoil.redundancy.cliques import maximal_cliques
from counterfoil.redundancy.distortion import distorted_share, grouped_share, strongest_lies
from counterfoil.redundancy.roster import Roster
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError


def right(share: int) -> Digest:
    return Digest.of(b"right %d" % share)


def wrong(share: int) -> Digest:
    return Digest.of(b"wrong %d" % share)


def told(assignment: tuple[tuple[int, ...], ...], liars: set[int], lies: frozenset[int]) -> list[Given]:
    """What is given where liars tell one common lie on some shares."""
    return [
        {party: wrong(number) if party in liars and number in lies else right(number) for party in share}
        for number, share in enumerate(assignment)
    ]


# Assignment.


@pytest.mark.parametrize(("parties", "copies"), [(5, 3), (7, 3), (6, 1), (4, 4)])
def test_every_set_of_parties_has_one_share(parties: int, copies: int) -> None:
    assignment = subset_assignment(parties, copies)
    assert len(set(assignment)) == math.comb(parties, copies)
    for party in range(parties):
        assert len(shares_of(assignment, party)) == math.comb(parties - 1, copies - 1)
    for pair in combinations(range(parties), 2):
        common = set(shares_of(assignment, pair[0])) & set(shares_of(assignment, pair[1]))
        assert len(common) == (math.comb(parties - 2, copies - 2) if copies > 1 else 0)


@pytest.mark.parametrize(("parties", "copies"), [(3, 4), (0, 0), (5, 0), (31, 2), (30, 5)])
def test_parties_that_cannot_be_assigned_are_a_sentence(parties: int, copies: int) -> None:
    with pytest.raises(DataError, match="parties"):
        subset_assignment(parties, copies)


def test_who_is_excluded_has_no_share_and_no_copy_is_lost() -> None:
    assignment = subset_assignment(6, 3)
    after = without(assignment, {1, 4}, 6)
    assert all(len(set(share)) == 3 and not {1, 4} & set(share) for share in after)
    loads = [len(shares_of(after, party)) for party in (0, 2, 3, 5)]
    assert sum(loads) == 60
    assert max(loads) - min(loads) <= 2
    assert without(assignment, (), 6) == assignment
    assert all(share == (0, 2) for share in without(assignment, {1, 3, 4, 5}, 6))


# Cliques.


@pytest.mark.parametrize("seed", range(40))
def test_cliques_are_those_of_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(1, 8)
    edges = {pair for pair in combinations(range(count), 2) if rng.random() < rng.choice([0.3, 0.6, 0.9])}
    joined = [frozenset(b if a == v else a for a, b in edges if v in (a, b)) for v in range(count)]
    every = [
        frozenset(chosen)
        for size in range(1, count + 1)
        for chosen in combinations(range(count), size)
        if all(pair in edges for pair in combinations(chosen, 2))
    ]
    maximal = [clique for clique in every if not any(clique < other for other in every)]
    for least in range(1, count + 1):
        assert set(maximal_cliques(joined, least)) == {clique for clique in maximal if len(clique) >= least}


def test_the_worst_graph_of_the_most_parties_is_searched_in_no_time() -> None:
    """Ten triples without an edge inside each have 3^10 maximal cliques, all of ten vertices."""
    joined = [frozenset(other for other in range(30) if other // 3 != vertex // 3) for vertex in range(30)]
    assert maximal_cliques(joined, 16) == ()


# What is known.


@pytest.mark.parametrize(("parties", "copies", "faulty"), [(4, 3, 1), (5, 3, 2), (5, 1, 2)])
def test_what_is_said_is_true_whatever_colluders_lie_about(parties: int, copies: int, faulty: int) -> None:
    """Every set of shares that they can lie on: nobody honest is called faulty, and no lie is called proven."""
    assignment, liars = subset_assignment(parties, copies), set(range(faulty))
    possible = [number for number, share in enumerate(assignment) if liars & set(share)]
    for lies in chain.from_iterable(combinations(possible, size) for size in range(len(possible) + 1)):
        given = told(assignment, liars, frozenset(lies))
        known = agree(range(parties), given, faulty)
        assert known.faulty <= liars
        assert any(clique >= set(range(faulty, parties)) for clique in known.cliques)
        for number, each in enumerate(known.shares):
            if each.doubt is Doubt.PROVEN:
                assert each.value == right(number)
            if each.doubt is Doubt.UNCONTRADICTED and each.value == wrong(number):
                assert set(assignment[number]) <= liars


def test_a_lie_on_everything_is_found_without_a_replay() -> None:
    """The weak attack: who contradicts all others is in no clique of theirs, and is found at once."""
    assignment = subset_assignment(7, 3)
    known = agree(range(7), told(assignment, {2, 5, 6}, frozenset(range(35))), 3)
    assert known.cliques == (frozenset({0, 1, 3, 4}),)
    assert known.faulty == {2, 5, 6}
    # Nobody is left of the share that these three alone computed: a replay says what is right.
    assert known.undecided == (assignment.index((2, 5, 6)),)


def test_a_share_that_only_liars_computed_is_not_called_proven() -> None:
    """The limit of it: nobody contradicts them, so a replay alone can."""
    assignment = subset_assignment(7, 3)
    number = assignment.index((0, 1, 2))
    known = agree(range(7), told(assignment, {0, 1, 2}, frozenset({number})), 3)
    assert known.faulty == frozenset()
    assert known.shares[number].doubt is Doubt.UNCONTRADICTED
    assert number in known.unproven


def test_who_gives_nothing_agrees_with_nobody() -> None:
    given: list[Given] = [{0: None, 1: None, 2: right(0)}]
    assert agreement_graph(range(3), given) == {0: frozenset(), 1: frozenset(), 2: frozenset()}


@pytest.mark.parametrize(
    ("faulty", "lies", "sentence"),
    [(2, frozenset(), "honest ones must be more than half"), (1, frozenset(range(4)), "more than 1 are faulty")],
)
def test_more_faulty_parties_than_may_be_are_a_sentence(faulty: int, lies: frozenset[int], sentence: str) -> None:
    assignment = subset_assignment(4, 3)
    given = told(assignment, {0, 1}, lies)
    with pytest.raises(DataError, match=sentence):
        agree(range(4), given, faulty)


# The roster.


def test_the_strongest_attack_is_settled_by_replays_and_its_parties_are_excluded() -> None:
    """Two colluders contradict exactly two others: there are two cliques, and a replay decides between them."""
    assignment = subset_assignment(5, 3)
    lies = strongest_lies(assignment, 2)
    given = told(assignment, {0, 1}, lies)
    known = agree(range(5), given, 2)
    assert known.cliques == (frozenset({0, 1, 4}), frozenset({2, 3, 4}))
    assert known.faulty == frozenset()
    asked: list[int] = []

    def replay(share: int) -> Digest:
        asked.append(share)
        return right(share)

    roster, values = Roster(5, 2, assignment).settle(1, given, replay)
    assert values == tuple(map(right, range(10)))
    assert [(each.party, each.step, each.replayed) for each in roster.excluded] == [
        (0, 1, asked[0]),
        (1, 1, asked[0]),
    ]
    assert len(asked) == 1
    assert roster.present == (2, 3, 4)
    assert roster.detours[0].replayed == tuple(asked)
    # From then on nobody is left who could lie, and nothing is replayed.
    again, _ = roster.settle(2, told(roster.assignment, set(), frozenset()), replay)
    assert again == roster
    assert len(asked) == 1


def test_what_others_than_the_assigned_gave_is_refused() -> None:
    roster = Roster(4, 1, subset_assignment(4, 3))
    with pytest.raises(DataError, match="not by the parties"):
        roster.settle(1, [{0: right(0), 1: right(0), 2: right(0)}], right)


def test_more_liars_than_may_be_are_found_out_by_a_replay() -> None:
    assignment = subset_assignment(5, 3)
    with pytest.raises(DataError, match=r"ore than 1 (are|of 5 parties are) faulty"):
        Roster(5, 1, assignment).settle(1, told(assignment, {0, 1}, strongest_lies(assignment, 2)), right)


# Fractions.


@pytest.mark.parametrize(("parties", "copies", "colluders"), [(5, 3, 2), (7, 3, 2), (7, 3, 3), (7, 5, 3), (15, 3, 7)])
def test_the_fraction_is_that_of_the_attack_carried_out(parties: int, copies: int, colluders: int) -> None:
    assignment = subset_assignment(parties, copies)
    lies = strongest_lies(assignment, colluders)
    assert Fraction(len(lies), len(assignment)) == distorted_share(parties, copies, colluders)
    known = agree(range(parties), told(assignment, set(range(colluders)), lies), colluders)
    assert known.faulty == frozenset()
    assert len(known.cliques) == 2


@pytest.mark.parametrize(("parties", "copies", "colluders"), [(5, 3, 2), (6, 3, 2), (7, 5, 3)])
def test_no_other_attack_that_stays_undetected_distorts_more(parties: int, copies: int, colluders: int) -> None:
    """Every set of shares in which colluders have the majority, and all of whose lies leave them unexcluded."""
    assignment, liars = subset_assignment(parties, copies), set(range(colluders))
    won = [number for number, share in enumerate(assignment) if 2 * len(liars & set(share)) > copies]
    most = max(
        len(lies)
        for lies in chain.from_iterable(combinations(won, size) for size in range(len(won) + 1))
        if not agree(range(parties), told(assignment, liars, frozenset(lies)), colluders).faulty
    )
    assert Fraction(most, len(assignment)) == distorted_share(parties, copies, colluders)


def test_groups_that_vote_are_worse() -> None:
    assert grouped_share(15, 3, 2) == Fraction(1, 5)
    assert all(distorted_share(15, 3, q) < grouped_share(15, 3, q) for q in range(2, 8))
    with pytest.raises(ValueError, match="odd"):
        distorted_share(15, 4, 2)

from __future__ import annotations

import pytest

from counterfoil.base.joberrors import RankError
from counterfoil.training.peers import others
from counterfoil.training.together import check_ranks, shares_of
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.shares import SUM, Shares


@pytest.mark.parametrize("count", range(1, 14))
@pytest.mark.parametrize("ranks", range(1, 14))
def test_shares_are_dealt_in_blocks_that_differ_by_one_at_most(count, ranks) -> None:
    if ranks > count:
        return
    blocks = [shares_of(rank, ranks, count) for rank in range(ranks)]
    assert [share for block in blocks for share in block] == list(range(count))
    assert max(map(len, blocks)) - min(map(len, blocks)) <= 1


def test_as_many_ranks_as_shares_are_enough() -> None:
    shares = Shares(4, SUM, Turns.alone(None))  # type: ignore[arg-type]
    assert check_ranks(4, shares) == 4
    with pytest.raises(RankError, match="4 shares a step, and there are 5 ranks"):
        check_ranks(5, shares)


@pytest.mark.parametrize(
    ("roots", "different"),
    [("aaaa", []), ("aaba", [2]), ("bacaa", [0, 2]), ("ab", [0, 1]), ("aabb", [0, 1, 2, 3]), ("abc", [0, 1, 2])],
)
def test_who_has_not_the_state_of_more_than_half_is_named(roots, different) -> None:
    assert others([root.encode() for root in roots]) == different

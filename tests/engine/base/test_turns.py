from __future__ import annotations

import pytest

from counterfoil_core.base.turns import Turns

PATTERN = ("d", "d", "g", "d", "h")
TURNS = Turns({"d": 1, "g": 2, "h": 3}, PATTERN)


def test_a_step_has_the_one_that_the_pattern_names():
    assert [TURNS.name(step) for step in range(1, 12)] == [*PATTERN, *PATTERN, "d"]
    assert [TURNS.of(step) for step in range(1, 6)] == [1, 1, 2, 1, 3]
    assert TURNS.map(str).of(5) == "3"


def test_turns_are_counted_without_going_through_them():
    for last in range(25):
        for name in TURNS.parts:
            assert TURNS.count(name, last) == sum(TURNS.name(step) == name for step in range(1, last + 1))
    assert TURNS.count("g", 5 * 10**15) == 10**15


def test_names_of_some_steps():
    for first in range(1, 8):
        for last in range(first, 20):
            assert TURNS.names(first, last) == tuple(sorted({TURNS.name(step) for step in range(first, last + 1)}))
    assert TURNS.names(1, 10**18) == ("d", "g", "h")


def test_where_each_begins():
    assert [TURNS.first(name) for name in TURNS.parts] == [1, 3, 5]
    assert TURNS.complete_after == 5
    assert TURNS.take(("d", "g")).complete_after == 3


def test_one_alone_has_every_turn():
    alone = Turns.alone(7)
    assert (alone.only, alone.several, alone.all) == (7, False, (7,))
    assert {alone.of(step) for step in range(1, 9)} == {7}
    assert [alone.count("", last) for last in range(4)] == [0, 1, 2, 3]
    assert TURNS.several
    with pytest.raises(ValueError, match="too many values"):
        assert TURNS.only

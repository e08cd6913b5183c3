"""The forms of a training's batches: their names, their pattern, and what a program cuts."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch

from counterfoil.training import forms as module
from counterfoil.training.forms import Forms, pattern_of, schedule_of_parts
from counterfoil_core.base.errors import DataError

LONG, SHORT = {"x": (4, 7), "y": (4,)}, {"x": (2, 5), "y": (2,)}


def forms(*steps: tuple[int, ...], kinds: Any = (LONG, SHORT), **settings: Any) -> Forms:
    return Forms(tuple(kinds), steps, 4, **settings)


def test_names_say_rows_and_lengths_that_vary() -> None:
    assert dict(forms((0,), (1,), (0,)).names) == {(0,): "4x7", (1,): "2x5"}
    assert dict(forms((0, 0), (0, 1)).names) == {(0, 0): "4x7.4x7", (0, 1): "4x7.2x5"}
    rows_alone = forms((0,), (1,), kinds=({"x": (4, 7)}, {"x": (3, 7)}))
    assert dict(rows_alone.names) == {(0,): "4", (1,): "3"}


def test_lengths_that_are_always_alike_are_named_once() -> None:
    kinds = tuple({"x": (4, n), "mask": (4, n), "target": (4, m)} for n, m in ((7, 3), (5, 3), (7, 2)))
    assert list(forms((0,), (1,), (2,), kinds=kinds).names.values()) == ["4x7x3", "4x5x3", "4x7x2"]


def test_names_that_would_be_long_are_numbers() -> None:
    many = forms((0,) * 20, (1,) * 20)
    assert list(many.names.values()) == ["shape.1", "shape.2"]


def test_a_pattern_is_the_shortest_beginning_that_gives_all() -> None:
    assert pattern_of("aab" * 5) == tuple("aab")
    assert pattern_of("aabaabaa") == tuple("aab")
    assert pattern_of("abac") == tuple("abac")
    drawn = random.Random(1)
    for _ in range(300):
        names = "".join(drawn.choice("ab") for _ in range(drawn.randrange(1, 12)))
        found = pattern_of(names)
        expected = next(n for n in range(1, 13) if all(c == names[i % n] for i, c in enumerate(names)))
        assert found == tuple(names[:expected])


def test_a_pattern_that_an_order_has_no_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PATTERN", 5)
    assert len(pattern_of("abc" * 1000)) == 3
    with pytest.raises(DataError, match="follow no pattern in 6 steps"):
        pattern_of("aabbab")


def test_a_program_cuts_what_a_batch_has() -> None:
    batch = {"x": torch.arange(2 * 4 * 7).reshape(8, 7), "y": torch.arange(8)}
    made = forms((0, 1), (1, 1))
    assert torch.equal(made.cut(batch, (0, 1), 0)["x"], batch["x"][:4])
    second = made.cut(batch, (0, 1), 1)
    assert torch.equal(second["x"], batch["x"][4:6, :5])
    assert torch.equal(second["y"], batch["y"][4:6])
    pieces = [made.cut(batch, (0, 1), number, 2)["y"].tolist() for number in range(4)]
    assert pieces == [[0, 1], [2, 3], [4], [5]]


def test_a_part_may_be_a_row_of_its_own() -> None:
    whole = forms((0, 1), kinds=({"x": (5, 2), "n": ()}, {"x": (3, 1), "n": ()}), whole=True)
    batch = {"x": torch.arange(20).reshape(2, 5, 2), "n": torch.tensor([8, 9])}
    found = whole.cut(batch, (0, 1), 1)
    assert torch.equal(found["x"], batch["x"][1, :3, :1])
    assert found["n"].shape == ()
    assert found["n"] == 9


def test_pieces_of_which_a_batch_has_none() -> None:
    forms((0,), (1,)).check_pieces(2)
    with pytest.raises(DataError, match="A batch of 2 rows cannot be split into 4 equal parts"):
        forms((0,), (1,)).check_pieces(4)


def test_lengths_are_rounded_up_and_rows_are_not() -> None:
    kinds = tuple({"x": (rows, n), "y": (rows,)} for rows, n in ((4, 7), (4, 6), (3, 5), (4, 1), (4, 9)))
    rounded = forms((0,), (1,), (2,), (3,), (4,), kinds=kinds).rounded(4)
    assert [rounded.kinds[number]["x"] for (number,) in rounded.steps] == [(4, 8), (4, 8), (3, 8), (4, 4), (4, 9)]
    assert len(rounded.kinds) == 4


def test_a_shorter_part_is_filled_up_with_row_0() -> None:
    parts = [np.array(rows) for rows in ([4, 2, 3], [5, 1], [6, 7, 8])]
    assert schedule_of_parts(parts, [(0, 1), (0,)]).tolist() == [[4, 2, 3, 5, 1, 0], [6, 7, 8, 0, 0, 0]]

"""Stored ratios and those of now: what got worse is found, what did not is let pass."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from benchmarks.check import compare, ratios, read_stored, store, table
from benchmarks.measure import Result

from benchmarks import check

STORED = {"recorded / unrounded": 1.2, "replayed / unrounded": 1.3}


def result(recorded: float) -> Result:
    return Result(
        name="a step",
        seconds={},
        recorded_ratio=recorded,
        replayed_ratio=1.3,
        unrounded_ratio=0.9,
        eager64_ratio=1.1,
        eager32_ratio=3.0,
        values=1,
        entries=0,
        log_bytes=1,
        memory={},
        operators=1,
    )


@pytest.mark.parametrize(("now", "worse"), [(0.5, False), (1.2, False), (1.31, False), (1.33, True), (9.0, True)])
def test_what_is_worse_than_the_tolerance_fails(now: float, worse: bool) -> None:
    rows = compare("digits", STORED, {**STORED, "recorded / unrounded": now}, 0.1)
    assert [row.worse for row in rows] == [worse, False]
    assert ("WORSE" in table(rows)) is worse


@pytest.mark.parametrize("bad", [math.nan, math.inf, 0.0, -1.0])
def test_a_ratio_that_cannot_be_compared_is_no_success(bad: float) -> None:
    for stored, found in (({"a": bad}, {"a": 1.0}), ({"a": 1.0}, {"a": bad})):
        with pytest.raises(ValueError, match="digits: a is"):
            compare("digits", stored, found, 0.1)


def test_what_is_no_longer_measured_is_no_success() -> None:
    with pytest.raises(ValueError, match="replayed / unrounded"):
        compare("digits", STORED, {"recorded / unrounded": 1.0}, 0.1)


def test_what_is_new_is_shown_and_does_not_fail() -> None:
    rows = compare("digits", {}, STORED, 0.1)
    assert [row.worse for row in rows] == [False, False]
    assert table(rows).count("new") == 2


@pytest.mark.parametrize(("now", "code"), [(1.2, 0), (1.5, 1)])
def test_what_was_stored_is_what_is_compared(
    now: float, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "STORED", tmp_path / "ratios.json")
    assert check.main(["digits"]) == 2
    store("digits", result(1.2), 1)
    store("gpt2", result(9.0), 1)
    assert read_stored()["threads 1"]["digits"] == ratios(result(1.2))
    monkeypatch.setattr(check, "measure", lambda *_, **__: result(now))
    assert check.main(["digits"]) == code

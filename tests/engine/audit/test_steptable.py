"""The step table: rows come back as they were put in, and every number that is said of several steps comes from it."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from counterfoil_core.base.digest import Digest
from counterfoil_core.values.steptable import Recorded, StepMatch, StepRow, StepTable, Tally, packed_steps, unpack
from support.reports import empty_table, step_row, table_of

STEPS = 12
counts = st.integers(0, 2**62)
digests = st.binary(min_size=32, max_size=32).map(Digest)
floats = st.floats(allow_nan=False)
replayed_rows = st.builds(
    StepRow, st.just(1), st.sampled_from(StepMatch), digests, digests, floats, floats,
    counts, counts, counts, counts, counts, counts, floats, counts, counts,
)  # fmt: skip
lost_rows = replayed_rows.map(lambda row: replace(row, match=StepMatch.UNJUDGED, replay_leaf=None, log_entries=0))


@st.composite
def tables(draw: Callable) -> list[StepRow]:
    """Rows of some steps, in any order."""
    steps = draw(st.lists(st.integers(1, STEPS), unique=True))
    return [replace(draw(replayed_rows | lost_rows), step=step) for step in steps]


def by_step(rows: list[StepRow]) -> list[StepRow]:
    return sorted(rows, key=lambda row: row.step)


@given(tables(), st.integers(0, STEPS))
def test_rows_come_back_as_they_were(rows: list[StepRow], cut: int) -> None:
    table = table_of(STEPS, rows[:cut])
    early = table.snapshot()
    for row in rows[cut:]:
        table.put([row])
    assert list(table.rows()) == by_step(rows)
    assert list(early.rows()) == by_step(rows[:cut]), "what was put in later is not in a snapshot"
    assert (early.done, table.done, len(table)) == (len(rows[:cut]), len(rows), STEPS)
    assert table.last == (rows[-1].step if rows else 0)
    assert [table.row(step) for step in (0, -1, STEPS + 1)] == [None] * 3
    assert len(fields(StepRow)) == 15, "a column that is added is kept too"


@given(tables())
def test_every_sum_is_that_of_the_rows(rows: list[StepRow]) -> None:
    table = table_of(STEPS, rows)
    matching = [row for row in rows if row.match is StepMatch.MATCH]
    wrong = [row.step for row in by_step(rows) if row.match is StepMatch.MISMATCH]
    assert (table.matching, table.mismatches, table.mismatched) == (len(matching), len(wrong), tuple(wrong))
    assert table.judged == len(matching) + len(wrong)
    assert table.replayed == sum(row.replay_leaf is not None for row in rows)
    names = ("corrections", "contradictions", "omissions", "log_entries", "log_bytes", "rounded_values")
    sums = {name: sum(getattr(row, name) for row in matching) for name in names}
    assert table.tally() == Tally(table.judged, tuple(wrong), **sums)
    for name, expected in sums.items():
        assert table.total(name) == expected
        assert np.isnan(table.counted(name)).sum() == STEPS - len(matching)


def test_the_log_is_judged_on_matching_steps_only() -> None:
    match = replace(step_row(1), log_entries=10, corrections=1, contradictions=2, omissions=3)
    other = replace(match, step=2, match=StepMatch.MISMATCH)
    unjudged = replace(match, step=3, match=StepMatch.UNJUDGED)
    tally = table_of(3, [match, other, unjudged]).tally()
    assert (tally.judged, tally.mismatched) == (2, (2,))
    assert (tally.log_entries, tally.corrections, tally.contradictions, tally.omissions) == (10, 1, 2, 3)
    assert (tally.log_bytes, tally.rounded_values) == (match.log_bytes, match.rounded_values)


def test_a_step_that_was_not_replayed_has_no_leaf() -> None:
    recorded = Recorded.of([0.5] * 3, [7] * 3, [9] * 3)
    table = StepTable(recorded)
    lost = replace(
        step_row(2), match=StepMatch.UNJUDGED, replay_leaf=None, replay_loss=float("nan"), trainer_loss=0.5,
        log_entries=0, log_bytes=7,
    )  # fmt: skip
    table.put([step_row(1), lost])
    row = table.row(2)
    assert row is not None
    assert (row.replay_leaf, row.log_entries) == (None, 0), "nothing was counted"
    assert row.trainer_leaf == lost.trainer_leaf
    assert table.row(3) is None
    assert (table.done, table.replayed, table.judged) == (2, 1, 1)
    assert np.isnan(table.replay_loss).tolist() == [False, True, True]
    assert table.column("log_entries").tolist() == [10, 9, 9], "what the trainer says stays"
    assert recorded == Recorded.of([0.5] * 3, [7] * 3, [9] * 3), "what was recorded is not changed by a replay"
    packed = table.pack(3)
    assert [row.replay_leaf is None for row in unpack(packed, lambda _: lost.trainer_leaf)] == [False, True]


def test_a_row_is_put_in_once_and_never_changes() -> None:
    table = table_of(3, [step_row(2)])
    for rows in ([step_row(2)], [step_row(1), step_row(2)], [step_row(1), step_row(1)]):
        with pytest.raises(ValueError, match="a step that"):
            table.put(rows)
    for step in (0, 4, -1):
        with pytest.raises(IndexError):
            table.put([replace(step_row(1), step=step)])
    assert [row.step for row in table.rows()] == [2], "nothing was put in by halves"
    assert (table.done, table.last) == (1, 2)


def test_losses_that_are_no_numbers_and_zeros_at_the_end_of_a_leaf_are_kept() -> None:
    nan, leaf = float("nan"), Digest(bytes(32))
    row = table_of(1, [replace(step_row(1), trainer_loss=nan, replay_loss=nan, trainer_leaf=leaf)]).row(1)
    assert row is not None
    assert np.isnan([row.trainer_loss, row.replay_loss]).all()
    assert row.trainer_leaf == leaf
    assert Recorded.of([nan], [1], [2]) == Recorded.of([nan], [1], [2])
    assert Recorded.of([nan], [1], [2]) != Recorded.of([nan], [1], [3])


# As bytes.


@given(tables(), st.integers(0, STEPS))
def test_a_packed_table_holds_the_rows_up_to_a_step(rows: list[StepRow], last: int) -> None:
    leaves = {row.step: row.trainer_leaf for row in rows}
    expected = [row for row in by_step(rows) if row.step <= last]
    packed = table_of(STEPS, rows).pack(last)
    assert list(unpack(packed, leaves.__getitem__)) == expected
    assert packed_steps(packed).tolist() == [row.step for row in expected]


def test_what_is_no_packed_table_is_refused() -> None:
    own = replace(step_row(2), replay_leaf=Digest.of(b"own"), match=StepMatch.MISMATCH)
    packed = table_of(3, [step_row(1), own, step_row(3)]).pack(3)
    assert packed["own_leaves"] == Digest.of(b"own").value, "the trainer's leaves are in the run"
    changes = [
        {"more": b""},
        {"step": packed["step"][:-1]},
        {"step": packed["step"][:-8]},
        {"match": b"\0\1\1"},
        {"match": b"\4\1\1"},
        {"match": b"\1\1"},
        {"leaf": b"\1\1\1"},
        {"leaf": b"\3\1\2"},
        {"own_leaves": b""},
        {"seconds": b"\0" * 16},
    ]
    for change in changes:
        with pytest.raises(ValueError):  # noqa: PT011 - numpy's own words for some
            packed_steps({**packed, **change})
    with pytest.raises(ValueError, match="other columns"):
        packed_steps({name: column for name, column in packed.items() if name != "seconds"})
    assert packed_steps(packed).tolist() == [1, 2, 3], "control"


# Of a long run.


def test_a_long_run_is_fast_and_takes_the_memory_of_its_numbers() -> None:
    steps = 100_000
    rows = [step_row(step) for step in range(1, steps + 1)]
    tracemalloc.start()
    try:
        table = empty_table(steps)
        for first in range(0, steps, 1000):
            table.put(rows[first : first + 1000])
        now, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert now / steps < 200
    begun = time.perf_counter()
    for _ in range(20):
        early = table.snapshot()
        assert early.mismatches == 0
    assert (time.perf_counter() - begun) / 20 < 0.1, "a look, which the window takes every 30 ms, copies little"
    assert early.tally().corrections == 3 * steps
    assert len(table.pack(steps)["step"]) == 8 * steps

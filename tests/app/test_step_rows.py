"""Rows are kept as numbers and come back as they were."""

from __future__ import annotations

import tracemalloc
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil import Digest, StepMatch, StepRow
from counterfoil_app.model.step_rows import StepRows

counts = st.integers(0, 2**62)
digests = st.binary(min_size=32, max_size=32).map(Digest)
floats = st.floats(allow_nan=False)
rows = st.builds(
    StepRow, st.integers(1, 2**62), st.sampled_from(StepMatch), digests, st.none() | digests, floats, floats,
    counts, counts, counts, counts, counts, counts, floats, counts, counts,
)  # fmt: skip


@given(st.lists(rows, max_size=8), st.lists(rows, max_size=8))
def test_rows_come_back_as_they_were(first: list[StepRow], more: list[StepRow]) -> None:
    kept = StepRows(first)
    early = kept.so_far()
    kept.extend(more)
    assert list(kept) == first + more
    assert list(early) == first, "what was added later is not among them"
    assert kept[1:-1] == (first + more)[1:-1]
    assert len(fields(StepRow)) == 15, "a field that is added is kept too"
    if first + more:
        assert kept[-1] == (first + more)[-1]
    with pytest.raises(IndexError):
        kept[len(kept)]


def test_a_loss_that_is_no_number_is_kept() -> None:
    leaf = Digest(bytes(32))
    row = StepRow(1, StepMatch.UNJUDGED, leaf, leaf, 1.0, float("nan"), 0, 0, 0, 0, 0, 0, 0.5)
    kept = StepRows([row])[0]
    assert np.isnan(kept.replay_loss)
    assert kept.trainer_leaf == leaf, "zeros at the end of a hash are part of it"


def test_rows_take_the_memory_of_their_numbers() -> None:
    leaf = Digest(b"\1" * 32)
    count = 50_000
    tracemalloc.start()
    try:
        kept = StepRows()
        for first in range(0, count, 1000):
            made = range(first, first + 1000)
            kept.extend(StepRow(step, StepMatch.MATCH, leaf, leaf, 1.0, 1.0, step, 0, 0, 0, 0, 0, 0.5) for step in made)
        now, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert now / count < 2 * 200, "twice at most: there is room for as many again"
    assert kept[-1].step == count - 1

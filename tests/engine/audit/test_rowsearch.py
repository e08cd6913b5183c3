"""Which rows were read instead of the ordered ones is found where it is a simple change, and nothing is made up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from counterfoil.audit.disputedrows import Asked, Rows, find_other_rows, fingerprint_of
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError

KEY = 0x1234_5678_9ABC_DEF0
BATCH = 12
STEP = 3
DRAWN = np.random.default_rng(5)
SCHEDULE = DRAWN.permutation(120)[: 6 * BATCH].reshape(6, BATCH).astype(np.int64)
NUMBERS = SCHEDULE[STEP - 1]
LABELS = DRAWN.integers(0, 10, 120).astype(np.int64)
IMAGES = DRAWN.integers(0, 256, (120, 5, 5)).astype(np.uint8)
FLOATS = DRAWN.standard_normal((120, 7)).astype(np.float32)


def asked(data: Rows, read: Rows) -> Asked:
    return Asked(data[NUMBERS], NUMBERS, STEP, SCHEDULE, data, KEY, fingerprint_of(read, KEY))


@pytest.mark.parametrize("values", [LABELS, IMAGES, FLOATS, IMAGES > 100], ids=["int", "uint8", "float", "bool"])
def test_the_fingerprint_is_that_of_a_recording(values: Rows) -> None:
    kernels = Kernels(torch.device("cpu"), 1)
    try:
        expected = kernels.fingerprint(torch.from_numpy(values.copy()).reshape(-1), KEY)
    finally:
        kernels.close()
    assert fingerprint_of(values, KEY) == expected % 2**64


def with_row(batch: Rows, place: int, row: Rows) -> Rows:
    found = batch.copy()
    found[place] = row
    return found


def swapped(batch: Rows) -> Rows:
    found = batch.copy()
    found[[2, 9]] = batch[[9, 2]]
    return found


CHANGES: dict[str, tuple[Rows, Callable[[Rows], Rows], str]] = {
    "flipped": (LABELS, lambda batch: 9 - batch, "Every value x was read as 9 - x."),
    "shifted": (LABELS, lambda batch: (batch + 4) % 10, "Every value x was read as x + 4, modulo 10."),
    "constant": (LABELS, lambda batch: batch * 0 + 6, "Every value was read as 6."),
    "one label": (LABELS, lambda batch: with_row(batch, 7, batch[7] + 1), "One value is another: in row 7"),
    "negative images": (IMAGES, lambda batch: 255 - batch, "Every value x was read as 255 - x."),
    "one image": (IMAGES, lambda batch: with_row(batch, 4, IMAGES[99]), "Row 4 of the batch is row 99 of the data"),
    "swapped": (IMAGES, swapped, "The rows 2 and 9 of the batch changed places."),
    "moved along": (FLOATS, lambda batch: np.roll(batch, 5, axis=0), "moved along by 5"),
    "reversed": (FLOATS, lambda batch: batch[::-1].copy(), "in reverse"),
    "another step": (FLOATS, lambda _batch: FLOATS[SCHEDULE[4]], "The rows of step 5 were read."),
    "one number": (FLOATS, lambda batch: with_row(batch, 1, batch[1] + np.eye(7)[3]), "One value is another: in row 1"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_simple_change_is_found_and_the_values_are_those_that_were_read(name: str) -> None:
    data, change, said = CHANGES[name]
    read = change(data[NUMBERS]).astype(data.dtype)
    found = find_other_rows(asked(data, read))
    assert found is not None
    assert said in found.said
    assert found.batch.dtype == data.dtype
    assert np.array_equal(found.batch, read)


@pytest.mark.parametrize("data", [LABELS, IMAGES, FLOATS], ids=["labels", "images", "floats"])
def test_nothing_is_made_up_where_no_simple_change_gives_the_fingerprint(data: Rows) -> None:
    read = data[DRAWN.permutation(120)[:BATCH]]
    assert find_other_rows(asked(data, read)) is None


def test_a_large_search_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    question = asked(FLOATS, FLOATS[SCHEDULE[4]])
    monkeypatch.setattr("counterfoil.audit.disputedrows.MOST_TERMS", 100)
    assert find_other_rows(question) is None


def test_it_can_be_cancelled() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(CancelledError):
        find_other_rows(replace(asked(LABELS, 9 - LABELS[NUMBERS]), cancel=token))

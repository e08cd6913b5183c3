"""What whoever gets a dispute capsule can read in it: the rows that the dispute needs, and what shares their chunks."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from torch import nn

import counterfoil
from counterfoil.audit.capsulecontents import count_contents, count_file_contents
from counterfoil.audit.values.capsulecontents import HandedOut, HandedRows
from counterfoil_core.bundle.capsule import CapsuleContents
from counterfoil_core.commit.state import CHUNK_BYTES
from counterfoil_core.order.admission import share_rows
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.dispute import UPDATE
from support.capsules import adjudicated, crafted, crafted_part, save
from support.jobs import Job, record_job

ROWS, BATCH, SHARES, STEP = 24, 8, 4, 3
WIDTH = CHUNK_BYTES // 4
"""float32 in a row, so that every row is a chunk of its own."""


def job_of(folder: Path, key: SigningKey, width: int, shares: int | None) -> Job:
    """Record a job whose rows have ``width`` numbers."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    data = {"x": rng.standard_normal((ROWS, width)).astype(np.float32), "y": rng.integers(0, 3, ROWS)}
    model = nn.Linear(width, 3)
    draft = counterfoil.order_custom(
        counterfoil.CustomJob(
            "rows",
            model,
            lambda model, batch: nn.functional.cross_entropy(model(batch["x"]), batch["y"]),
            torch.optim.SGD(model.parameters(), 1e-3),
            data,
            4,
            batch_size=BATCH,
            checkpoint_every=1,
            shares=shares,
        )
    )
    return record_job(folder, draft, key)


@pytest.fixture(scope="module")
def whole(trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Job:
    return job_of(tmp_path_factory.mktemp("whole"), trainer_key, WIDTH, None)


@pytest.fixture(scope="module")
def shared(trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Job:
    return job_of(tmp_path_factory.mktemp("shared"), trainer_key, WIDTH, SHARES)


def rows_in(path: Path, job: Job) -> set[int]:
    """Which rows of ``x`` a file has a part of: 64 bytes of each are looked for."""
    held = path.read_bytes()
    with h5py.File(job.order, "r") as order:
        rows = order["order/data/x"][:]
    return {number for number, row in enumerate(rows) if row.tobytes()[:64] in held or row.tobytes()[-64:] in held}


def step_rows(job: Job) -> list[int]:
    with h5py.File(job.order, "r") as order:
        return [int(row) for row in order["order/schedule"][STEP - 1]]


def rejected(contents: CapsuleContents, path: Path) -> Path:
    """Write a capsule about honest work, and expect that its replay finds nothing."""
    save(contents, path)
    report = adjudicated(path)
    assert report.outcome is AdjudicationOutcome.REJECTED, report.reason
    return path


def test_a_capsule_of_a_step_has_the_rows_of_the_step_alone(whole: Job, tmp_path: Path) -> None:
    path = rejected(crafted(whole.run, STEP), tmp_path / "c.cfoil")
    assert rows_in(path, whole) == set(step_rows(whole))
    assert len(set(step_rows(whole))) < ROWS, "there are others, which it has not"
    assert rows_in(whole.order, whole) == set(range(ROWS)), "a row that is there is found"


@pytest.mark.parametrize("share", [0, 2])
def test_a_capsule_of_a_share_has_the_rows_of_the_share_alone(shared: Job, share: int, tmp_path: Path) -> None:
    contents = crafted_part(shared.run, STEP, share)
    path = rejected(contents, tmp_path / "c.cfoil")
    own = step_rows(shared)[share_rows(contents.manifest, share)]
    assert len(own) == BATCH // SHARES
    assert rows_in(path, shared) == set(own)
    assert count_contents(contents).rows[0] == HandedRows("x", len(set(own)), len(set(own)), ROWS)


@pytest.mark.parametrize("about", [UPDATE, "gradient:weight"])
def test_a_capsule_of_an_update_or_of_a_sum_has_no_row(shared: Job, about: str, tmp_path: Path) -> None:
    contents = crafted_part(shared.run, STEP, about)
    path = rejected(contents, tmp_path / "c.cfoil")
    assert rows_in(path, shared) == set()
    assert contents.part.data == {}
    found = count_contents(contents)
    assert found.rows == ()
    assert found.tensors > 0
    assert "rows of" not in str(found.sentences[0])


def test_rows_that_share_a_chunk_with_those_of_the_step_are_counted(trainer_key: SigningKey, tmp_path: Path) -> None:
    job = job_of(tmp_path, trainer_key, 6, None)
    path = rejected(crafted(job.run, STEP), tmp_path / "c.cfoil")
    needed = len(set(step_rows(job)))
    found = count_file_contents(path)
    assert found.rows == (HandedRows("x", needed, ROWS, ROWS), HandedRows("y", needed, ROWS, ROWS))
    assert rows_in(path, job) == set(range(ROWS)), "as it is counted"
    assert f"{ROWS} of {ROWS} rows of x" in str(found.sentences[0])
    assert f"The dispute needs {needed} of x and {needed} of y" in str(found.sentences[1])


def test_a_row_that_lies_across_chunks_is_counted_once(trainer_key: SigningKey, tmp_path: Path) -> None:
    job = job_of(tmp_path, trainer_key, WIDTH + WIDTH // 2, None)
    contents = crafted(job.run, STEP)
    path = rejected(contents, tmp_path / "c.cfoil")
    own = set(step_rows(job))
    # A row has one chunk and a half: with it comes half of the one before or behind.
    expected = {each for row in own for each in ((row, row + 1) if row % 2 == 0 else (row - 1, row))}
    (x, y) = count_contents(contents).rows
    assert (x.read, x.shown) == (len(own), len(expected))
    assert rows_in(path, job) == expected
    assert y.shown == ROWS


def test_what_is_said_of_a_capsule_without_neighbours_is_one_sentence() -> None:
    said = HandedOut(2, 3, 4000, (HandedRows("x", 2, 2, 1000),)).sentences
    assert [str(each) for each in said] == [
        "Whoever gets the capsule can read in it 2 of 1,000 rows of x and 3 tensors of the model, 4,000 bytes."
    ]

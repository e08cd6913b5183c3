"""What docs/what-is-revealed.md says can be read off the parts of a run is tried here, on runs made for it."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from torch import nn

import counterfoil
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.commit.state import tensor_digest
from counterfoil_core.signing.keys import SigningKey
from support.jobs import Job, record_job

ROWS, CLASSES, BATCH, STEP, RATE = 40, 10, 8, 2, 0.125


def job_of(folder: Path, key: SigningKey, batch: int) -> Job:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    data = {"x": rng.standard_normal((ROWS, 5)).astype(np.float32), "y": rng.integers(0, CLASSES, ROWS)}
    model = nn.Linear(5, CLASSES)
    draft = counterfoil.order_custom(
        counterfoil.CustomJob(
            "revealed",
            model,
            lambda model, batch: nn.functional.cross_entropy(model(batch["x"]), batch["y"]),
            torch.optim.SGD(model.parameters(), RATE),
            data,
            3,
            batch_size=batch,
            checkpoint_every=1,
        )
    )
    return record_job(folder, draft, key)


@pytest.fixture(scope="module")
def job(trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Job:
    return job_of(tmp_path_factory.mktemp("revealed"), trainer_key, BATCH)


def terms(order: str, step: int, place: int) -> np.ndarray:
    """What each class at each position adds to the fingerprint of a place: uint64 ``[BATCH, CLASSES]`` (section 8)."""
    named = bytes.fromhex(order) + b"fingerprint" + step.to_bytes(8, "little")
    key = int.from_bytes(Digest.of(named).value[:8], "little")
    mask = 2**64 - 1
    key = (key + (place + 1) * 0xD6E8FEB86659FD93) & mask
    found = np.zeros((BATCH, CLASSES), np.uint64)
    for position, label in product(range(BATCH), range(CLASSES)):
        z = ((label ^ key) + (position + 1) * 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 32)) * 0xBF58476D1CE4E5B9) & mask
        found[position, label] = z ^ (z >> 29)
    return found


def sums(rows: np.ndarray) -> np.ndarray:
    """All sums of one term of each row."""
    total = np.zeros(1, np.uint64)
    for row in rows:
        total = (total[:, None] + row[None, :]).reshape(-1)
    return total


def test_the_labels_of_a_small_batch_follow_from_their_fingerprint(job: Job) -> None:
    with h5py.File(job.run, "r") as file:
        program = canonical.decode(file["order/program"][:].tobytes())
        manifest = file["order/manifest"][:].tobytes()
        places = [each["name"] for each in program["inputs"] if each["kind"] == "batch"]
        place = places.index("y")
        signed = np.uint64(file["run/fingerprints"][STEP - 1][place])
        labels = file["order/data/y"][:][file["order/schedule"][STEP - 1]]
    each = terms(Digest.of(manifest).hex, STEP, place)
    half = BATCH // 2
    first, second = sums(each[:half]), sums(each[half:])
    order = np.argsort(second)
    wanted = signed - first
    at = np.searchsorted(second[order], wanted)
    hits = [int(i) for i in np.flatnonzero(second[order][np.minimum(at, len(second) - 1)] == wanted)]
    assert len(hits) == 1, "ten thousand sums and as many again: a moment's work"
    pair = np.unravel_index(hits[0], (CLASSES,) * half), np.unravel_index(order[at[hits[0]]], (CLASSES,) * half)
    assert [int(label) for part in pair for label in part] == labels.tolist()


def test_a_guess_of_the_one_row_that_is_not_known_is_confirmed_by_a_digest(job: Job) -> None:
    with h5py.File(job.order, "r") as file:
        committed = canonical.decode(file["order/manifest"][:].tobytes())["data"]["y"]["digest"]
        known = file["order/data/y"][:]
    secret = int(known[17])
    fitting = []
    for guess in range(CLASSES):
        known[17] = guess
        fitting += [guess] * (tensor_digest("y", known).hex == committed)
    assert fitting == [secret]


def test_a_row_follows_from_two_neighbouring_states(trainer_key: SigningKey, tmp_path: Path) -> None:
    job = job_of(tmp_path, trainer_key, 1)
    with h5py.File(job.run, "r") as file:
        before, after = (file[f"run/checkpoints/{step:010d}"] for step in (STEP - 1, STEP))
        weight, bias = (before[name][:] - after[name][:] for name in ("weight", "bias"))
        (row,) = file["order/data/x"][:][file["order/schedule"][STEP - 1]]
    unit = int(np.argmax(np.abs(bias)))
    # The gradient of a linear layer's weight is that of its bias times the row that went in.
    np.testing.assert_allclose(weight[unit] / bias[unit], row, rtol=1e-3, atol=1e-4)

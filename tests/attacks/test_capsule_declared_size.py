"""Numbers in a capsule that speak of more than it holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterfoil_core.bundle.capsule import CapsuleContents
from support.capsules import hostile_capsule, refused, save


def put(file, name, array):
    del file[name]
    file[name] = array


@pytest.mark.parametrize("index", [-1, 4, 2**40, 2**63 - 1, -(2**63)])
def test_a_chunk_that_the_array_does_not_have(evidence: CapsuleContents, tmp_path: Path, index: int) -> None:
    with hostile_capsule(tmp_path, evidence) as (path, file):
        indices = file["capsule/data/images/indices"][...]
        indices[-1] = index
        put(file, "capsule/data/images/indices", indices)
    refused(path, "/capsule/data/images")


@pytest.mark.parametrize("end", [0, 1, 2**32, 2**64 - 1])
def test_a_log_that_ends_elsewhere(evidence: CapsuleContents, tmp_path: Path, end: int) -> None:
    with hostile_capsule(tmp_path, evidence) as (path, file):
        put(file, "capsule/log_ends", np.array([end], np.uint64))
    refused(path, "does not cut /capsule/log into steps")


@pytest.mark.parametrize("steps", [0, 2, 1000])
def test_logs_of_more_or_fewer_steps(evidence: CapsuleContents, tmp_path: Path, steps: int) -> None:
    with hostile_capsule(tmp_path, evidence) as (path, file):
        put(file, "capsule/log_ends", np.zeros(steps, np.uint64))
    refused(path, "does not hold logs and fingerprints of 1 steps")


@pytest.mark.parametrize("row", [(2**20,), (2**39,) * 8], ids=["2^59 elements", "2^351 elements"])
def test_an_order_of_an_enormous_batch(evidence: CapsuleContents, tmp_path: Path, row: tuple[int, ...]) -> None:
    """A hostile order may speak of any size; the capsule is refused before anything of that size is made."""
    manifest = evidence.manifest
    batch = 2**31 - 1
    schedule = replace(manifest.schedule, shape=(manifest.steps, batch))
    data = {**manifest.data, "images": replace(manifest.data["images"], shape=(2**39, *row))}
    huge = replace(manifest, batch_size=batch, schedule=schedule, data=data)
    refused(save(replace(evidence, manifest=huge), tmp_path / "a.cfoil"), "/capsule/data/images")


@pytest.mark.parametrize(
    "leaves",
    [b"", b"[]", b"{}", b"[1]", b'[{"proof":[],"record":{}}]', b"[" * 1000, b"null", b"\xff"],
)
def test_leaves_that_are_none(evidence: CapsuleContents, tmp_path: Path, leaves: bytes) -> None:
    with hostile_capsule(tmp_path, evidence) as (path, file):
        put(file, "capsule/leaves", np.frombuffer(leaves, np.uint8))
    refused(path, "Nothing was concluded")
